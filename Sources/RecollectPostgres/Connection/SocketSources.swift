#if Postgres
    import CLibpq
    import Foundation

    /// A pointer of C used by one queue at a time.
    ///
    /// `@unchecked Sendable` because its owner passes it from one queue to another, and does not use it meanwhile.
    struct SendablePointer: @unchecked Sendable {
        let value: OpaquePointer

        init(_ value: OpaquePointer) {
            self.value = value
        }
    }

    /// Watches the socket of a connection for reading and, on demand, for writing.
    ///
    /// The sources have a descriptor of their own: libpq closes its socket as soon as a connection fails, and on Linux, a source of
    /// a closed descriptor takes the events of the next socket with its number.
    ///
    /// `@unchecked Sendable` because all variables are used only on the queue of the connection, or after its last use.
    final class SocketSources: @unchecked Sendable {
        private let descriptor: Int32
        private let reading: any DispatchSourceRead
        private let writing: any DispatchSourceWrite
        private let remaining = DispatchGroup()
        private var isStopped = false

        /// Whether the socket is watched for writing.
        var watchesWriting = false {
            didSet {
                guard watchesWriting != oldValue, !isStopped else { return }
                if watchesWriting { writing.resume() } else { writing.suspend() }
            }
        }

        /// Whether bytes have arrived, or the connection has ended.
        var isReadable: Bool {
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&state, 1, 0) > 0
        }

        /// Creates sources for a socket; `nil` if the process has no free descriptor.
        init?(_ socket: Int32, queue: DispatchQueue) {
            descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return nil }
            reading = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            writing = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        }

        /// Begins to watch.
        /// - Parameter connection: The connection of libpq to close after `stop()`, when the sources no longer use its socket.
        func start(
            readable: @escaping @Sendable () -> Void, writable: @escaping @Sendable () -> Void,
            finally connection: SendablePointer
        ) {
            let remaining = remaining
            for _ in 0..<2 { remaining.enter() }
            reading.setEventHandler(handler: readable)
            writing.setEventHandler(handler: writable)
            reading.setCancelHandler { remaining.leave() }
            writing.setCancelHandler { remaining.leave() }
            remaining.notify(queue: .global()) { [descriptor] in
                close(descriptor)
                PQfinish(connection.value)
            }
            // A source must be resumed once before its release, even if it was never needed.
            reading.resume()
        }

        /// Ends watching, and then closes the connection of libpq.
        func stop() {
            guard !isStopped else { return }
            isStopped = true
            reading.cancel()
            writing.cancel()
            // The cancel handler of a suspended source does not run.
            if !watchesWriting { writing.resume() }
        }
    }
#endif
