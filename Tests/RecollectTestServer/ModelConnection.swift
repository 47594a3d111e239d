import Foundation
import RecollectCore
import RecollectTestSupport

/// One connection: reads requests and writes the replies byte by byte, as specified.
///
/// `@unchecked Sendable`: all state is used on the socket's serial queue.
final class ModelConnection: @unchecked Sendable {
    private let socket: Socket
    private let record: Record
    private let answer: ModelServer.Answer
    private let closing = Gate()
    private var received = RequestBytes()
    private var reply: Task<Void, Never>?
    private var unsent: ArraySlice<UInt8> = []
    private var writer: CheckedContinuation<Void, any Error>?

    /// Starts to read. Call it on the socket's queue.
    init(_ socket: Socket, record: Record, answer: @escaping ModelServer.Answer) {
        self.socket = socket
        self.record = record
        self.answer = answer
        record.opened(self)
        socket.watchReading { [self] in read() }
    }

    private func read() {
        guard !socket.isClosed, let bytes = socket.read() else { return }
        guard !bytes.isEmpty else { return end() }
        guard let request = received.add(bytes, connection: self, closing: closing) else {
            if received.isBroken { end() }
            return
        }
        record.received(request)
        reply = Task { [answer] in await Self.write(answer, to: request) }
    }

    private func end(resets: Bool = false) {
        socket.close(resets: resets)
        writer?.resume(throwing: POSIXError(.ECONNRESET))
        writer = nil
        closing.open()
        reply?.cancel()
    }

    /// Closes the connection: in an orderly way, or with a reset.
    func close(resets: Bool = false) async {
        await withCheckedContinuation { continuation in
            socket.queue.async { [self] in
                end(resets: resets)
                continuation.resume()
            }
        }
    }

    private func write(_ bytes: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            socket.queue.async { [self] in
                writer = continuation
                unsent = bytes[...]
                flush()
            }
        }
    }

    private func flush() {
        guard let writer else { return }
        while !socket.isClosed, !unsent.isEmpty {
            guard let count = socket.write(unsent) else { return end() }
            guard count > 0 else { return socket.waitForRoom { [self] in flush() } }
            unsent = unsent.dropFirst(count)
        }
        guard !socket.isClosed else { return end() }
        self.writer = nil
        writer.resume()
    }

    private static func write(_ answer: @escaping ModelServer.Answer, to request: ModelRequest) async {
        let connection = request.connection
        do {
            var reply = try await answer(request)
            let isLast = request.header("Connection")?.lowercased() == "close"
            if isLast { reply.headers.append(("Connection", "close")) }
            if !reply.isRaw { try await connection.write(reply.head) }
            for step in reply.steps {
                switch step {
                case .send(let bytes):
                    try await connection.write(reply.isRaw ? bytes : chunk(bytes))
                case .wait(let gate):
                    try await gate.wait()
                case .hangUp:
                    return await connection.close()
                case .reset:
                    return await connection.close(resets: true)
                case .silence:
                    return try await request.closed()
                }
            }
            if !reply.isRaw { try await connection.write(Array("0\r\n\r\n".utf8)) }
            if isLast { await connection.close() }
        } catch {
            // The client has disconnected, or the test's closure failed: in both cases, no reply is possible.
            await connection.close()
        }
    }

    /// An empty chunk would end the body.
    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }
}

/// The bytes of an incomplete request.
private struct RequestBytes {
    private var bytes: [UInt8] = []
    private var head: (method: String, target: String, headers: [(name: String, value: String)])?
    private var length = 0
    /// Whether the bytes are not a request that the server can parse.
    private(set) var isBroken = false

    /// Adds bytes, and returns the request that they complete.
    mutating func add(_ more: [UInt8], connection: ModelConnection, closing: Gate) -> ModelRequest? {
        bytes += more
        if head == nil { readHead() }
        guard let head, bytes.count >= length else { return nil }
        let body = String(decoding: bytes.prefix(length), as: UTF8.self)
        bytes.removeFirst(length)
        self.head = nil
        return ModelRequest(
            method: head.method, target: head.target, headers: head.headers,
            body: (try? JSONValue(parsing: body)) ?? .null, connection: connection, closing: closing)
    }

    private mutating func readHead() {
        guard let end = Data(bytes).range(of: Data("\r\n\r\n".utf8)) else { return }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        bytes.removeFirst(end.upperBound)
        let first = lines[0].split(separator: " ")
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0].lowercased(), parts.last?.trimmingCharacters(in: .whitespaces) ?? "")
        }
        guard first.count == 3, !headers.contains(where: { $0.name == "transfer-encoding" }) else {
            isBroken = true
            return
        }
        length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        head = (String(first[0]), String(first[1]), headers)
    }
}

extension ModelReply {
    /// The head as it is sent. The body follows in chunks.
    fileprivate var head: [UInt8] {
        var text = "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Told")\r\nTransfer-Encoding: chunked\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
