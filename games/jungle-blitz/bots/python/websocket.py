"""A WebSocket connection with nothing but Python's own library: text messages, as RFC 6455 frames them."""

import base64
import os
import socket
import struct
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class WebSocket:
    """Iterate over it for the messages that come; it ends when the server closes the connection."""

    def __init__(self, address):
        url = urlsplit(address)
        self.socket = socket.create_connection((url.hostname, url.port or 80))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {url.path or '/'} HTTP/1.1\r\nHost: {url.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        status = self.input.readline().decode()
        if " 101 " not in status:
            raise ConnectionError(f"{address} is no WebSocket: {status.strip()}")
        while self.input.readline().strip():
            pass  # headers

    def send(self, text):
        """Sends a text message."""
        self._send(TEXT, text.encode())

    def close(self):
        """Ends the connection."""
        self.input.close()
        self.socket.close()

    def __iter__(self):
        message = b""
        while True:
            try:
                last, kind, content = self._receive()
            except (ConnectionError, EOFError):
                return
            if kind == CLOSE:
                return
            if kind == PING:
                self._send(PONG, content)
            elif kind != PONG:
                message += content
                if last:
                    yield message.decode()
                    message = b""

    def _receive(self):
        first, second = self._read(2)
        length = second & 0x7F
        if length >= 126:
            form, size = (">H", 2) if length == 126 else (">Q", 8)
            (length,) = struct.unpack(form, self._read(size))
        return first & 0x80, first & 0x0F, self._read(length)

    def _read(self, length):
        content = self.input.read(length)
        if len(content) < length:
            raise EOFError
        return content

    def _send(self, kind, content):
        """A client masks what it sends. The mask protects old proxies; zeros will do here."""
        length = len(content)
        if length < 126:
            size = bytes([0x80 | length])
        elif length < 1 << 16:
            size = bytes([0x80 | 126]) + struct.pack(">H", length)
        else:
            size = bytes([0x80 | 127]) + struct.pack(">Q", length)
        self.socket.sendall(bytes([0x80 | kind]) + size + b"\0\0\0\0" + content)
