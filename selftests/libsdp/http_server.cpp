// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "http_server.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace
{

void check(bool good, const char *what)
{
	if (!good)
		throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback()
{
	sockaddr_in address{};

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

int open_listener()
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const sockaddr_in address = loopback();

	check(fd >= 0, "socket");
	check(bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0, "bind");
	check(listen(fd, 1) == 0, "listen");
	return fd;
}

bool read_request(int fd)
{
	std::string request;
	std::array<char, 1024> buffer{};

	while (request.find("\r\n\r\n") == std::string::npos) {
		const ssize_t count = read(fd, buffer.data(), buffer.size());

		if (count <= 0)
			return false;
		request.append(buffer.data(), static_cast<std::size_t>(count));
	}
	return true;
}

void write_all(int fd, std::string_view data)
{
	while (!data.empty()) {
		const ssize_t count = send(fd, data.data(), data.size(), MSG_NOSIGNAL);

		if (count <= 0)
			return; // the client sees a body that is too short
		data.remove_prefix(static_cast<std::size_t>(count));
	}
}

} // namespace

HttpServer::HttpServer(std::string body)
	: body_(std::move(body)), listener_(open_listener()), thread_([this] { answer_one(); })
{
}

HttpServer::~HttpServer()
{
	shutdown(listener_, SHUT_RDWR); // ends accept() if no client came
	thread_.join();
	close(listener_);
}

std::string HttpServer::url() const
{
	sockaddr_in address{};
	socklen_t length = sizeof(address);

	check(getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &length) == 0,
	      "getsockname");
	return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
}

void HttpServer::answer_one() const
{
	const int client = accept(listener_, nullptr, nullptr);

	if (client < 0)
		return;
	if (read_request(client)) {
		write_all(client, "HTTP/1.0 200 OK\r\nContent-Length: " +
					  std::to_string(body_.size()) + "\r\n\r\n");
		write_all(client, body_);
	}
	close(client);
}
