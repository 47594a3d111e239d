#if Postgres
    import Foundation
    import RecollectCore

    /// A proxy before a server on 127.0.0.1. It can end a connection after a number of bytes in one direction, and passes bytes in
    /// small pieces.
    ///
    /// `@unchecked Sendable` because its threads share only `cut`, which has a lock, and a socket that never changes.
    final class CuttingProxy: @unchecked Sendable {
        enum Direction: Sendable { case toServer, toClient }

        /// The end of the next connection with this many bytes in a direction.
        struct Cut: Sendable {
            let direction: Direction
            let byteCount: Int
        }

        let port: Int
        private let listener: Int32
        private let serverPort: Int
        private let cut = Locked<Cut?>(nil)
        private let cutCount = Locked(0)

        init(before serverPort: Int) throws {
            self.serverPort = serverPort
            let (listener, port) = try Self.openListener()
            self.listener = listener
            self.port = port
            Thread.detachNewThread { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    if client < 0, errno == EINTR { continue }
                    guard client >= 0 else { return }
                    guard let self else {
                        _ = shutdown(client, Int32(SHUT_RDWR))
                        return
                    }
                    pass(client)
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }

        /// Opens a socket that accepts connections on a free port of 127.0.0.1.
        static func openListener() throws -> (socket: Int32, port: Int) {
            let listener = socket(AF_INET, kind, 0)
            var address = address(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withPointer(&address) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
            guard isListening else { throw RecollectError(.inputOutput, "cannot listen on 127.0.0.1") }
            return (listener, Int(UInt16(bigEndian: address.sin_port)))
        }

        /// Ends the next connection that has passed the bytes of the cut.
        func cutNext(_ direction: Direction, after byteCount: Int) {
            cut.withLock { $0 = Cut(direction: direction, byteCount: byteCount) }
        }

        /// The number of connections ended so far.
        var count: Int { cutCount.withLock { $0 } }

        /// Passes the bytes of a client, on two threads, until one side ends.
        private func pass(_ client: Int32) {
            let server = socket(AF_INET, Self.kind, 0)
            var address = Self.address(port: serverPort)
            let isConnected = Self.withPointer(&address) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
            guard isConnected else {
                close(client)
                close(server)
                return
            }
            let openCount = Locked(2)
            for (from, to, direction) in [(client, server, Direction.toServer), (server, client, .toClient)] {
                Thread.detachNewThread { [self] in
                    copy(from: from, to: to, direction)
                    shutdown(client, Int32(SHUT_RDWR))
                    shutdown(server, Int32(SHUT_RDWR))
                    let isLast = openCount.withLock { count in
                        count -= 1
                        return count == 0
                    }
                    guard isLast else { return }
                    close(client)
                    close(server)
                }
            }
        }

        private func copy(from source: Int32, to target: Int32, _ direction: Direction) {
            var buffer = [UInt8](repeating: 0, count: 700)
            // Counted from the order to cut, not from the beginning of the connection.
            var passedCount = 0
            while true {
                let count = read(source, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                let isCut = cut.withLock { cut -> Bool in
                    guard let current = cut, current.direction == direction else {
                        passedCount = 0
                        return false
                    }
                    guard passedCount + count > current.byteCount else { return false }
                    cut = nil
                    cutCount.withLock { $0 += 1 }
                    let rest = current.byteCount - passedCount
                    if rest > 0 { _ = Self.send(buffer[..<rest], to: target) }
                    return true
                }
                if isCut { return }
                passedCount += count
                var sent = 0
                while sent < count {
                    let written = Self.send(buffer[sent..<count], to: target)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { return }
                    sent += written
                }
            }
        }

        /// Sends bytes without the signal SIGPIPE, which would end the process if the other side has closed the connection.
        private static func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Int {
            #if canImport(Darwin)
                var on: Int32 = 1
                setsockopt(target, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            return bytes.withUnsafeBytes { Foundation.send(target, $0.baseAddress, $0.count, flags) }
        }

        private static func address(port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            address.sin_port = UInt16(port).bigEndian
            return address
        }

        private static func withPointer<Value>(
            _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Value
        ) -> Value {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
            }
        }

        #if canImport(Glibc)
            private static let kind = Int32(SOCK_STREAM.rawValue)
        #else
            private static let kind = SOCK_STREAM
        #endif
    }
#endif
