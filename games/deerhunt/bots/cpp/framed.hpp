// A TCP connection with nothing but POSIX sockets: messages, each behind its length in ten characters.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

class Framed {
public:
    // Connects to an address such as 127.0.0.1:8888; throws std::runtime_error when nobody is there.
    explicit Framed(const std::string& address) {
        auto colon = address.rfind(':');
        if (colon == std::string::npos) throw std::runtime_error(address + " is no address; it looks like 127.0.0.1:8888");
        addrinfo wanted{}, *found = nullptr;
        wanted.ai_family = AF_UNSPEC;
        wanted.ai_socktype = SOCK_STREAM;
        int error = getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &wanted, &found);
        if (error != 0) throw std::runtime_error("no such place as " + address + ": " + gai_strerror(error));
        for (addrinfo* place = found; place && socket_ < 0; place = place->ai_next) {
            socket_ = ::socket(place->ai_family, place->ai_socktype, place->ai_protocol);
            if (socket_ >= 0 && connect(socket_, place->ai_addr, place->ai_addrlen) != 0) {
                close(socket_);
                socket_ = -1;
            }
        }
        freeaddrinfo(found);
        if (socket_ < 0) throw std::runtime_error("no connection to " + address + ": " + std::strerror(errno));
        // A reply is one small write; it must not wait until the one before is acknowledged.
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    Framed(const Framed&) = delete;
    Framed& operator=(const Framed&) = delete;

    ~Framed() {
        if (socket_ >= 0) close(socket_);
    }

    // Sends a message: length and body at once.
    void send(const std::string& body) {
        std::string length = std::to_string(body.size());
        std::string bytes = std::string(DIGITS - length.size(), ' ') + length + body;
        for (std::size_t sent = 0; sent < bytes.size();) {
            ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) return;  // it is gone; reading says so
            sent += count;
        }
    }

    // Waits for the next message. Whether there is one: false when the referee has closed the connection.
    bool receive(std::string& body) {
        std::string length;
        return read(length, DIGITS) && read(body, std::strtoul(length.c_str(), nullptr, 10));
    }

private:
    static const std::size_t DIGITS = 10;

    int socket_ = -1;

    bool read(std::string& bytes, std::size_t length) {
        bytes.resize(length);
        for (std::size_t came = 0; came < length;) {
            ssize_t count = recv(socket_, &bytes[came], length - came, 0);
            if (count <= 0) return false;
            came += count;
        }
        return true;
    }
};
