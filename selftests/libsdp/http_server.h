// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * A TCP server in the test's own process that answers one HTTP request.
 */
#ifndef LIBSDP_TEST_HTTP_SERVER_H
#define LIBSDP_TEST_HTTP_SERVER_H

#include <string>
#include <thread>

class HttpServer
{
public:
	/** Listen on a free port of 127.0.0.1 and answer the first client with body. */
	explicit HttpServer(std::string body);
	~HttpServer();
	HttpServer(const HttpServer &) = delete;
	HttpServer &operator=(const HttpServer &) = delete;
	HttpServer(HttpServer &&) = delete;
	HttpServer &operator=(HttpServer &&) = delete;

	[[nodiscard]] std::string url() const;

private:
	void answer_one() const;

	std::string body_;
	int listener_;
	std::thread thread_;
};

#endif // LIBSDP_TEST_HTTP_SERVER_H
