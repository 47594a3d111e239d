import Foundation
import RecollectAgents
import RecollectCore

/// Creates actionable errors for one request to one server.
struct ModelErrors {
    /// The server's name in messages: scheme, host and port.
    let server: String
    let model: String
    let hasKey: Bool
    /// Whether the base URL has a user and a password.
    let hasUser: Bool
    let request: LLMRequest
    /// The strings to keep out of all errors.
    let secrets: [String]

    // MARK: Before an answer

    /// The error for a transport's failure before a response.
    func notSent(_ error: any Error) -> ModelError {
        let failure = error as? TransportError
        switch failure?.code {
        case .connectionLost?, .compressed?, .bufferFull?: return lost(error)
        case .timedOut?: return timedOut("within the HTTP client's timeout", cause: error)
        case .invalidURL?:
            return ModelError(
                .invalidArgument, "\(server) is not a valid server URL; a base URL looks like http://host:port/v1",
                cause: error)
        case .invalidHead?:
            return ModelError(
                .unreadable,
                "\(server) sent an invalid HTTP response header (\(failure?.reason ?? "")); the rest was not read: check that "
                    + "it is a model server, and check any proxy in front of it",
                cause: error)
        default:
            return ModelError(
                .cannotConnect,
                "cannot connect to \(server): check that the server is running and that the base URL is correct",
                cause: error)
        }
    }

    /// The error for a body that ended too early.
    func lost(_ cause: (any Error)? = nil) -> ModelError {
        switch (cause as? TransportError)?.code {
        case .compressed?:
            return ModelError(
                .unreadable,
                "\(server) sent a compressed response that cannot be decompressed, or that may expand more than a hundredfold; the "
                    + "rest was not read: check the compression settings of the server or the proxy",
                cause: cause)
        case .bufferFull?:
            return ModelError(
                .unreadable,
                "\(server) sent too much data, faster than it could be read; the rest was not read",
                cause: cause)
        default: break
        }
        return ModelError(
            .connectionLost, "\(server) closed the connection before the response was complete; try again",
            cause: cause)
    }

    /// The error for a slow server.
    func timedOut(_ limit: String, cause: (any Error)? = nil) -> ModelError {
        ModelError(
            .timedOut,
            "\(server) did not answer \(limit); try again, or increase the timeout if \(model) is slow to load",
            cause: cause)
    }

    /// The error for two credentials: only one can be sent.
    func twoCredentials() -> ModelError {
        ModelError(
            .invalidArgument,
            "the base URL of \(server) contains a user name and password, and there is also an API key; only one of the two can be "
                + "sent: remove the other")
    }

    /// The error for an invalid port number.
    func noPort(_ port: Int) -> ModelError {
        ModelError(.invalidArgument, "\(port) in the base URL of \(server) is not a valid port: use one up to 65535")
    }

    /// Refuses header names other than HTTP tokens (RFC 9110, section 5.6.2). HTTP libraries trap on some of them.
    func check(names: some Sequence<String>) throws {
        let marks = Set("!#$%&'*+-.^_`|~".utf8)
        func isToken(_ name: String) -> Bool {
            !name.isEmpty
                && name.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || marks.contains(byte)
                }
        }
        guard let name = names.first(where: { !isToken($0) }) else { return }
        let shown = name.unicodeScalars.prefix(80).reduce(into: "") { $0 += $1.escaped(asASCII: false) }
        throw ModelError(
            .invalidArgument,
            "'\(shown)' is not a valid header name: use ASCII letters and digits and !#$%&'*+-.^_`|~")
    }

    /// Refuses invalid header values before an HTTP library does, because its error quotes them, including keys.
    func check(_ headers: [(name: String, value: String)]) throws {
        guard
            let header = headers.first(where: { $0.value.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } })
        else { return }
        let key = header.name == "Authorization" ? ": check the API key" : ""
        throw ModelError(
            .invalidArgument, "the header \(header.name) contains a line break or another control character" + key)
    }

    // MARK: Refusals

    /// The error for a response with a status other than 2xx.
    func refusal(status: Int, body: [UInt8], retryAfter: Duration? = nil, location: String? = nil) -> ModelError {
        let json = try? body.withUnsafeBytes { bytes in try JSONParser.read(bytes) { try $0.value() } }
        return refusal(status: status, error: json ?? .null, retryAfter: retryAfter, location: location)
    }

    /// The error for a failure in the middle of a stream. Many servers include a status.
    func failure(_ error: JSONValue) -> ModelError {
        let code = error["code"]?.integerValue ?? error["status"]?.integerValue
        guard let code, (400..<600).contains(code) else {
            return ModelError(.serverFailed, "\(server) failed while sending its response" + saying(error))
        }
        return refusal(status: Int(code), error: error)
    }

    private func refusal(
        status: Int, error: JSONValue, retryAfter: Duration? = nil, location: String? = nil
    ) -> ModelError {
        let code: ModelError.Code
        let message: String
        switch status {
        case 300..<400:
            code = .redirected
            let host = location.flatMap { URL(string: $0)?.host } ?? "another address"
            message = "\(server) redirects to \(host); nothing was sent there: use that base URL if you trust it"
        case 401, 403:
            code = .unauthorized
            // Servers quote the key in this case, so their message is left out.
            message =
                hasUser
                ? "\(server) rejected the user name and password in the base URL, or they do not allow \(model)"
                : hasKey
                    ? "\(server) rejected the API key (apiKey, OPENAI_API_KEY), or the key does not allow \(model)"
                    : "\(server) requires an API key: pass one as apiKey, or set OPENAI_API_KEY for recall"
        case 404:
            code = .notFound
            message =
                "\(server) has no model \(model) or no chat completions at this address: check the model name "
                + "and the base URL, which usually ends in /v1" + saying(error)
        case 429:
            code = .rateLimited
            let wait = retryAfter.map { "; try again in \($0.components.seconds) s" } ?? ""
            message = "\(server) is rate limiting requests\(wait)" + saying(error)
        case 408:
            code = .timedOut
            message = "\(server) timed out waiting for the request" + saying(error)
        case 500...:
            code = .serverFailed
            message = "\(server) failed with status \(status); try again later" + saying(error)
        default:
            code = .refused
            message = "\(server) refused the request to \(model) with status \(status)" + saying(error)
        }
        return ModelError(code, message, status: status, retryAfter: retryAfter)
    }

    private func saying(_ error: JSONValue) -> String {
        let words = ServerMessage(error: error, request: request, secrets: secrets).text
        return words.isEmpty ? "" : "; server message: \(words)"
    }

    // MARK: Unreadable answers

    /// The error for a body other than a completion.
    /// - Parameter contentType: The body's type according to the server.
    func unreadable(contentType: String?, cause: (any Error)? = nil) -> ModelError {
        let kind = contentType.map { "a response of type \($0)" } ?? "a response without a type"
        return ModelError(
            .unreadable,
            "\(server) sent \(kind) that is not a chat completion: check the base URL, which usually ends in /v1",
            cause: cause)
    }

    /// The error for an event or a body over the limit.
    func tooLong(limit: Int) -> ModelError {
        ModelError(
            .unreadable, "\(server) sent more than \(limit) bytes in one event or response; the rest was not read")
    }
}
