import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A nonblocking socket that closes when nothing watches it any more.
///
/// All calls are made on its queue. `@unchecked Sendable`: the queue is serial.
final class Socket: @unchecked Sendable {
    let queue: DispatchQueue
    private let descriptor: Int32
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private(set) var isClosed = false
    /// The sources not yet canceled: a descriptor under watch must not be used for another file.
    private var watches = 0

    /// Takes over a descriptor.
    init(_ descriptor: Int32, _ queue: DispatchQueue) {
        self.descriptor = descriptor
        self.queue = queue
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Opens a port on 127.0.0.1 that the system chooses.
    static func listening(_ queue: DispatchQueue) throws -> (socket: Socket, port: Int) {
        #if canImport(Darwin)
            let descriptor = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw POSIXError.last }
        let socket = Socket(descriptor, queue)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) + listen(descriptor, SOMAXCONN)
                    + getsockname(descriptor, pointer, &size)
            }
        }
        guard status == 0 else {
            let error = POSIXError.last
            socket.close()
            throw error
        }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Calls `body` whenever there is something to read, or the other side has closed.
    func watchReading(_ body: @escaping () -> Void) {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        reading = source
        watch(source, body)
    }

    private func watch(_ source: any DispatchSourceProtocol, _ body: @escaping () -> Void) {
        watches += 1
        source.setEventHandler(handler: body)
        source.setCancelHandler { [self] in
            watches -= 1
            closeUnwatched()
        }
        source.activate()
    }

    /// Accepts a waiting connection; `nil` if there is none.
    func accept() -> Int32? {
        #if canImport(Darwin)
            let accepted = Darwin.accept(descriptor, nil, nil)
        #else
            let accepted = Glibc.accept(descriptor, nil, nil)
        #endif
        return accepted < 0 ? nil : accepted
    }

    /// Returns the received bytes: empty at the end of the connection, `nil` if there are none yet.
    func read() -> [UInt8]? {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            failure = received < 0 ? errno : 0
            count = max(0, received)
        }
        return failure == EAGAIN || failure == EINTR ? nil : bytes
    }

    /// Writes as much as there is room for. Returns the number of bytes; `nil` if the connection has failed.
    func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        let sent = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
        guard sent < 0 else { return sent }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Calls `body` once there is room for more.
    func waitForRoom(_ body: @escaping () -> Void) {
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        writing = source
        watch(source) { [weak self] in
            self?.stopWriting()
            body()
        }
    }

    private func stopWriting() {
        writing?.cancel()
        writing = nil
    }

    /// Closes the socket: in an orderly way, or with a reset.
    func close(resets: Bool = false) {
        guard !isClosed else { return }
        isClosed = true
        if resets {
            // Closing a socket that may not linger resets it.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        stopWriting()
        reading?.cancel()
        reading = nil
        closeUnwatched()
    }

    private func closeUnwatched() {
        guard isClosed, watches == 0 else { return }
        // Prevents closing the descriptor twice.
        watches = -1
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }
}

extension POSIXError {
    /// The error of the last system call.
    static var last: POSIXError { POSIXError(Code(rawValue: errno) ?? .EIO) }
}
