#if Postgres
    import CLibpq
    import Foundation
    import RecollectCore

    extension PostgresConnection {
        /// Connects to a server: to the first host of the address with a server of the required kind.
        ///
        /// Each host has the time of `connect_timeout`. Names of hosts are resolved by libpq, on a thread of Dispatch.
        /// - Throws: `PostgresFailure` for the last host, with the failures of all hosts, or `CancellationError`.
        static func connect(to address: PostgresAddress) async throws -> PostgresConnection {
            var failures: [PostgresFailure] = []
            for options in address.attempts {
                try Task.checkCancellation()
                let queue = DispatchQueue(label: "recollect.postgres.connection")
                let attempt = ConnectionAttempt(options, queue: queue)
                do {
                    let handle = try await attempt.run()
                    guard
                        let connection = PostgresConnection(handle.value, server: address.description, queue: queue)
                    else { throw PostgresFailure(message: "the process has too many open files") }
                    return connection
                } catch let failure as PostgresFailure {
                    failures.append(failure)
                }
            }
            // Of several failures, one with an answer of a server says most.
            let last = failures.last { !$0.sqlState.isEmpty } ?? failures.last
            throw PostgresFailure(
                sqlState: last?.sqlState ?? "", message: failures.map(\.message).joined(separator: "; "))
        }
    }

    extension PostgresAddress {
        /// The options of each attempt to connect, one host each.
        fileprivate var attempts: [[String: String]] {
            let lists = ["host", "hostaddr", "port"].map { keyword in
                (
                    keyword,
                    options[keyword].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
                )
            }
            let count = max(lists[0].1?.count ?? 0, lists[1].1?.count ?? 0, 1)
            let hosts = (0..<count).map { index in
                lists.reduce(into: options) { options, list in
                    guard let values = list.1 else { return }
                    // One port applies to all hosts.
                    options[list.0] =
                        values.indices.contains(index) ? values[index] : values.count == 1 ? values[0] : nil
                }
            }
            guard options["target_session_attrs"] == "prefer-standby" else { return hosts }
            return ["standby", "any"].flatMap { kind in
                hosts.map { $0.merging(["target_session_attrs": kind]) { $1 } }
            }
        }
    }

    /// An attempt to connect to one host.
    ///
    /// `@unchecked Sendable` because all variables are used only on `queue`.
    private final class ConnectionAttempt: @unchecked Sendable {
        private let options: [String: String]
        private let queue: DispatchQueue
        private var handle: OpaquePointer?
        private var continuation: CheckedContinuation<SendablePointer, any Error>?
        /// The end of the attempt before the server has answered.
        private var interruption: (any Error)?
        private var source: (any DispatchSourceProtocol)?

        init(_ options: [String: String], queue: DispatchQueue) {
            self.options = options
            self.queue = queue
        }

        func run() async throws -> SendablePointer {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    queue.async { [self] in
                        self.continuation = continuation
                        start()
                    }
                }
            } onCancel: {
                queue.async { [self] in interrupt(CancellationError()) }
            }
        }

        private func start() {
            if let interruption { return finish(throwing: interruption) }
            let keywords = options.keys.sorted()
            let values = keywords.map { strdup(options[$0] ?? "") }
            let names = keywords.map { strdup($0) }
            defer { (names + values).forEach { free($0) } }
            handle = PQconnectStartParams(
                names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
            guard let handle, PQstatus(handle) != CONNECTION_BAD else {
                return finish(throwing: PostgresFailure(connecting: handle))
            }
            // The message of a failure then has its SQLSTATE.
            PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
            // The default receiver writes to standard error.
            PQsetNoticeReceiver(handle, { _, _ in }, nil)
            let seconds = options["connect_timeout"].flatMap(Int.init) ?? 0
            if seconds > 0 {
                // As in libpq, the shortest time is 2 seconds.
                queue.asyncAfter(deadline: .now() + .seconds(max(seconds, 2))) { [weak self] in
                    self?.interrupt(PostgresFailure(message: "no answer within \(max(seconds, 2)) seconds"))
                }
            }
            wait(forReading: false)
        }

        /// Waits for the socket, and goes on. The source is gone before libpq may close the socket.
        private func wait(forReading: Bool) {
            let socket = PQsocket(handle)
            let source: any DispatchSourceProtocol =
                forReading
                ? DispatchSource.makeReadSource(fileDescriptor: socket, queue: queue)
                : DispatchSource.makeWriteSource(fileDescriptor: socket, queue: queue)
            self.source = source
            source.setEventHandler { [weak self] in self?.source?.cancel() }
            source.setCancelHandler { [self] in
                self.source = nil
                proceed()
            }
            source.resume()
        }

        private func proceed() {
            if let interruption { return finish(throwing: interruption) }
            switch PQconnectPoll(handle) {
            case PGRES_POLLING_READING: wait(forReading: true)
            case PGRES_POLLING_WRITING: wait(forReading: false)
            case PGRES_POLLING_OK:
                guard let handle else { return }
                PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
                self.handle = nil
                continuation?.resume(returning: SendablePointer(handle))
                continuation = nil
            default: finish(throwing: PostgresFailure(connecting: handle))
            }
        }

        private func interrupt(_ error: any Error) {
            interruption = interruption ?? error
            source?.cancel()
        }

        private func finish(throwing error: any Error) {
            PQfinish(handle)
            handle = nil
            continuation?.resume(throwing: error)
            continuation = nil
        }
    }
#endif
