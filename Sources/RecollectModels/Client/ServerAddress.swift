#if Models
    import Foundation

    /// Where a server is, as its base URL tells.
    struct ServerAddress: Sendable {
        /// The server as people know it: scheme, host and port. The rest of an address may hold secrets.
        let name: String
        /// Where requests go.
        let completions: String
        /// The `Authorization` of the user and the password in the base URL; `nil` where it has none.
        let authorization: String?
        /// What must stand in no error.
        let secrets: [String]

        init(_ baseURL: URL) {
            let host = baseURL.host ?? ""
            let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            name = "\(baseURL.scheme ?? "http")://\(shown)" + (baseURL.port.map { ":\($0)" } ?? "")
            guard var address = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else {
                (completions, authorization, secrets) = (baseURL.absoluteString, nil, [])
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
            completions = address.string ?? baseURL.absoluteString
        }
    }
#endif
