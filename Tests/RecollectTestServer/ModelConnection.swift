#if Models
    import Foundation
    import NIOCore
    import NIOHTTP1
    import NIOPosix
    import RecollectCore

    /// One connection: gathers requests and writes the replies, byte by byte as they are told.
    final class ModelConnection: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private let record: Record
        private let answer: ModelServer.Answer
        private let closing = Gate()
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []
        private var reply: Task<Void, Never>?

        private init(record: Record, answer: @escaping ModelServer.Answer) {
            self.record = record
            self.answer = answer
        }

        /// Responses are written as bytes, so only the reading half of HTTP is NIO's.
        static func install(on channel: any Channel, record: Record, answer: @escaping ModelServer.Answer) throws {
            try channel.pipeline.syncOperations.addHandlers(
                ByteToMessageHandler(HTTPRequestDecoder()), ModelConnection(record: record, answer: answer))
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                self.head = head
                body = []
            case .body(let bytes):
                body += bytes.readableBytesView
            case .end:
                guard let head else { return }
                let request = ModelRequest(
                    method: head.method.rawValue, target: head.uri,
                    headers: head.headers.map { ($0.name.lowercased(), $0.value) },
                    body: (try? JSONValue(parsing: String(decoding: body, as: UTF8.self))) ?? .null,
                    connection: context.channel, closing: closing)
                record.received(request)
                reply = Self.reply(to: request, answer)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            closing.open()
            reply?.cancel()
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }

        private static func reply(to request: ModelRequest, _ answer: @escaping ModelServer.Answer) -> Task<Void, Never>
        {
            Task { await write(answer, to: request) }
        }

        private static func write(_ answer: ModelServer.Answer, to request: ModelRequest) async {
            let channel = request.connection
            do {
                let reply = try await answer(request)
                if !reply.isRaw { try await write(reply.head, to: channel) }
                for step in reply.steps {
                    switch step {
                    case .send(let bytes):
                        try await write(reply.isRaw ? bytes : chunk(bytes), to: channel)
                    case .wait(let gate):
                        try await gate.wait()
                    case .hangUp:
                        return try await channel.close().get()
                    case .reset:
                        // Closing a socket that may not linger resets it.
                        let options = channel as? any SocketOptionProvider
                        try await options?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                        return try await channel.close().get()
                    case .silence:
                        return try await request.closed()
                    }
                }
                if !reply.isRaw { try await write(Array("0\r\n\r\n".utf8), to: channel) }
            } catch {
                // The client has gone, or the test's closure failed: either way there is nobody to answer.
                channel.close(promise: nil)
            }
        }

        private static func write(_ bytes: [UInt8], to channel: any Channel) async throws {
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        }

        /// An empty chunk would be the end.
        private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty else { return [] }
            return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
    }

    extension ModelReply {
        /// The head as it goes over the wire; the body comes in chunks.
        fileprivate var head: [UInt8] {
            let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
            var text = "HTTP/1.1 \(status) \(reason)\r\nTransfer-Encoding: chunked\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            return Array((text + "\r\n").utf8)
        }
    }
#endif
