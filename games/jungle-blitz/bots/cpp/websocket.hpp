// A WebSocket connection with nothing but POSIX sockets: text messages, as RFC 6455 frames them.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

class WebSocket {
public:
    // Connects to an address such as ws://127.0.0.1:8765; throws std::runtime_error when nobody is there.
    explicit WebSocket(const std::string& address) {
        std::string place = address.compare(0, 5, "ws://") == 0 ? address.substr(5) : address;
        std::string path = "/";
        if (auto slash = place.find('/'); slash != std::string::npos) {
            path = place.substr(slash);
            place.resize(slash);
        }
        auto colon = place.rfind(':');
        std::string host = place.substr(0, colon), port = colon == std::string::npos ? "80" : place.substr(colon + 1);
        dial(host, port);
        // The key proves to the server that we mean WebSocket; any 16 bytes will do.
        write("GET " + path + " HTTP/1.1\r\nHost: " + place + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
              "Sec-WebSocket-Key: anVuZ2xlIGJsaXR6IGM=\r\nSec-WebSocket-Version: 13\r\n\r\n");
        std::string status = line();
        if (status.find(" 101 ") == std::string::npos) throw std::runtime_error(address + " is no WebSocket: " + status);
        while (!line().empty()) {
            // headers
        }
    }

    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;

    ~WebSocket() {
        if (socket_ >= 0) close(socket_);
    }

    // Sends a text message.
    void send(const std::string& text) { send(TEXT, text); }

    // Waits for the next message. Whether there is one: false when the server has closed the connection.
    bool receive(std::string& message) {
        message.clear();
        try {
            for (;;) {
                Frame frame = next();
                if (frame.kind == CLOSE) return false;
                if (frame.kind == PING) {
                    send(PONG, frame.content);
                } else if (frame.kind != PONG) {
                    message += frame.content;
                    if (frame.last) return true;
                }
            }
        } catch (const Closed&) {
            return false;
        }
    }

private:
    enum Kind : unsigned char { TEXT = 0x1, CLOSE = 0x8, PING = 0x9, PONG = 0xA };

    struct Frame {
        bool last;
        int kind;
        std::string content;
    };

    struct Closed {};

    int socket_ = -1;
    std::string input_;  // what has come and was not read yet
    std::size_t read_ = 0;

    void dial(const std::string& host, const std::string& port) {
        addrinfo wanted{}, *found = nullptr;
        wanted.ai_family = AF_UNSPEC;
        wanted.ai_socktype = SOCK_STREAM;
        int error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
        if (error != 0) throw std::runtime_error("no such place as " + host + ":" + port + ": " + gai_strerror(error));
        for (addrinfo* place = found; place && socket_ < 0; place = place->ai_next) {
            socket_ = ::socket(place->ai_family, place->ai_socktype, place->ai_protocol);
            if (socket_ >= 0 && connect(socket_, place->ai_addr, place->ai_addrlen) != 0) {
                close(socket_);
                socket_ = -1;
            }
        }
        freeaddrinfo(found);
        if (socket_ < 0) throw std::runtime_error("no connection to " + host + ":" + port + ": " + std::strerror(errno));
        // A command is one small write; it must not wait until the one before is acknowledged.
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }

    Frame next() {
        std::string head = read(2);
        auto byte = [](char c) { return static_cast<unsigned char>(c); };
        std::uint64_t length = byte(head[1]) & 0x7F;
        if (length >= 126) {
            std::string digits = read(length == 126 ? 2 : 8);
            length = 0;
            for (char digit : digits) length = length << 8 | byte(digit);
        }
        return {(byte(head[0]) & 0x80) != 0, byte(head[0]) & 0x0F, read(length)};
    }

    // A client masks what it sends. The mask protects old proxies; zeros will do here.
    void send(Kind kind, const std::string& content) {
        std::string frame(1, static_cast<char>(0x80 | kind));
        std::uint64_t length = content.size();
        int digits = length < 126 ? 0 : length < 1 << 16 ? 2 : 8;
        frame += static_cast<char>(0x80 | (digits == 0 ? length : digits == 2 ? 126 : 127));
        while (digits-- > 0) frame += static_cast<char>(length >> 8 * digits);
        frame.append(4, '\0');
        write(frame + content);
    }

    void write(const std::string& bytes) {
        for (std::size_t sent = 0; sent < bytes.size();) {
            ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) return;  // it is gone; reading says so
            sent += count;
        }
    }

    std::string read(std::size_t length) {
        while (input_.size() - read_ < length) {
            char buffer[1 << 16];
            ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
            if (count <= 0) throw Closed();
            input_.erase(0, read_);
            read_ = 0;
            input_.append(buffer, count);
        }
        read_ += length;
        return input_.substr(read_ - length, length);
    }

    // A line of the handshake, without its end.
    std::string line() {
        std::string line;
        try {
            for (;;) {
                line += read(1);
                if (line.back() == '\n') return line.substr(0, line.size() - 2);
            }
        } catch (const Closed&) {
            return line;
        }
    }
};
