import Foundation

/// The address of a server, from its base URL.
struct ServerAddress: Sendable {
    /// The server's name in messages: scheme, host and port. The rest of an address may contain credentials.
    let name: String
    /// The URL for requests.
    let completions: URL
    /// The `Authorization` header for the user and password in the base URL; `nil` if it has neither.
    let authorization: String?
    /// The strings to keep out of all errors.
    let secrets: [String]

    init(_ baseURL: URL) {
        let host = baseURL.host ?? ""
        let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        name = "\(baseURL.scheme ?? "http")://\(shown)" + (baseURL.port.map { ":\($0)" } ?? "")
        guard var address = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else {
            (completions, authorization, secrets) = (baseURL, nil, [])
            return
        }
        let (user, password) = (address.user ?? "", address.password ?? "")
        if user.isEmpty, password.isEmpty {
            (authorization, secrets) = (nil, [])
        } else {
            let pair = Data("\(user):\(password)".utf8).base64EncodedString()
            authorization = "Basic \(pair)"
            secrets = [password, address.percentEncodedPassword ?? "", pair]
        }
        (address.user, address.password) = (nil, nil)
        var path = address.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        address.percentEncodedPath = path + "/chat/completions"
        completions = address.url ?? baseURL
    }
}
