# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the demo's nodes have in common. $sdp_run is for the callers.

dir=/tmp/demo
jobs=()
# shellcheck disable=SC2034
sdp_run=$TOOLS/libsdp/sdp-run

say() { echo "$*"; }
sdpstat() { "$TOOLS/sdpstat/sdpstat" "$@"; }

# wait_for COMMAND...: half a minute at most
wait_for() {
	local end=$((SECONDS + 30))
	until "$@" > /dev/null; do
		((SECONDS < end)) || { say "timed out waiting for: $*"; return 1; }
		sleep 0.1
	done
}

sdp_listens() { sdpstat --listening --port "$1" | grep ":$1 "; }
tcp_listens() { ss -Hltn "sport = :$1" | grep .; }

# nginx_config ADDRESS PORT
nginx_config() {
	cat <<- END
		daemon off;
		pid $dir/nginx-$1-$2.pid;
		events { }
		http {
			access_log off;
			sendfile on;
			server { listen $1:$2; root $dir/www; }
		}
	END
}

# start_nginx ADDRESS PORT [PREFIX]
start_nginx() {
	local name=$dir/nginx-$1-$2
	nginx_config "$1" "$2" > "$name.conf"
	setsid "${@:3}" nginx -e "$name.log" -c "$name.conf" &
	jobs+=($!)
}

# Each leads a session of its own, with its children in it.
stop_jobs() {
	kill -- "${jobs[@]/#/-}"
	wait "${jobs[@]}" || true
}

# One test of qperf; its figure goes to a file.
# measure FILE SERVER OPTION...
measure() {
	say "qperf ${*:3}"
	timeout 120 qperf "$2" "${@:3}" > $dir/qperf ||
		{ say "qperf ${*:3} failed: $(< $dir/qperf)"; return 1; }
	sed -nE 's/^ *(bw|latency) *= *//p' $dir/qperf > "$1"
}

counter() { awk -v name="$1" '$1 == name { print $2 }' /proc/net/sdpstats; }

# fetch DIRECTORY NAME ADDRESS:PORT [PREFIX]: speed and checksum go to files there
fetch() {
	local speed
	say "curl fetches the file over $2"
	"${@:4}" curl -sS --fail --max-time 120 -o $dir/got -w '%{speed_download}' \
		"http://$3/file" > $dir/speed &
	watch_connection "$2" $!
	wait $!
	speed=$(< $dir/speed)
	awk -v s="$speed" 'BEGIN { printf "%.1f MB/sec\n", s / 1e6 }' > "$1/curl.$2"
	sha256sum < $dir/got | cut -d' ' -f1 > "$1/sha256.$2"
}

# The last sockets die a moment after their programs.
unload() { rmmod sdp 2> /dev/null; }
