/// Credentials in base64: encoded texts with a credential, and private keys without their header line.
extension CredentialScan {
    /// Returns the credential in a run of base64, including its continuation on the lines below.
    ///
    /// Only runs of plain text are searched. Decoding stops at the first other byte, so images and hashes cost
    /// little. Text encoded twice, or in the URL alphabet, is not decoded.
    /// - Parameter endOfDecoded: The end of the text already decoded.
    func encoded(from start: Int, to end: Int, _ endOfDecoded: inout Int) -> (name: String, position: Int)? {
        guard end - start >= Self.shortest, start >= endOfDecoded, !isDecoded else { return nil }
        if isPrivateKeyBody(at: start) { return ("a private key", start) }
        let (text, end) = decoded(at: start, atMost: count, Self.isText)
        endOfDecoded = end
        let found = text.withUnsafeBufferPointer { text in
            text.baseAddress.flatMap { CredentialScan(bytes: $0, count: text.count, isDecoded: true).first() }
        }
        return found.map { ($0.name + " in base64", start) }
    }

    /// A shorter run is too short for a key.
    private static let shortest = 24

    /// Decodes a run of base64 across line ends. At a refused byte, returns only the content of the whole lines
    /// before it.
    private func decoded(
        at start: Int, atMost limit: Int, _ belongs: (UInt8) -> Bool
    ) -> (bytes: [UInt8], end: Int) {
        var bytes: [UInt8] = []
        var line = (bytes: 0, end: start)
        var (bits, width) = (0, 0)
        var position = start
        while position < count, bytes.count < limit {
            let value = Self.values[Int(self.bytes[position])]
            if value == Self.noValue {
                let next = startOfNextLine(at: position)
                guard next < count, Self.values[Int(self.bytes[next])] != Self.noValue else { break }
                line = (bytes.count, position)
                position = next
                continue
            }
            (bits, width) = ((bits << 6 | Int(value)) & 0xFFFF, width + 6)
            position += 1
            guard width >= 8 else { continue }
            width -= 8
            let byte = UInt8(truncatingIfNeeded: bits >> width)
            guard belongs(byte) else {
                bytes.removeLast(bytes.count - line.bytes)
                return (bytes, line.end)
            }
            bytes.append(byte)
        }
        return (bytes, position)
    }

    /// Returns the start of the line below a line's end, after its indentation; the end of the text if the position
    /// is not at a line's end.
    private func startOfNextLine(at position: Int) -> Int {
        var next = position
        if bytes[next] == UInt8(ascii: "\r") { next += 1 }
        guard next < count, bytes[next] == UInt8(ascii: "\n") else { return count }
        return endOfRun(from: next + 1, atMost: 64) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Whether a run begins like a private key (PKCS #1, PKCS #8, SEC 1, OpenSSH): with a sequence and the version
    /// 0 or 1. Certificates, public keys and signatures begin differently.
    private func isPrivateKeyBody(at position: Int) -> Bool {
        let (bytes, _) = decoded(at: position, atMost: 16) { _ in true }
        if bytes.starts(with: "openssh-key-v1".utf8) { return true }
        guard bytes.count == 16, bytes[0] == Self.sequence else { return false }
        let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard lengthBytes <= 2 else { return false }
        let body = bytes[(2 + lengthBytes)...]
        return [0, 1].contains { version in
            [Self.sequence, Self.integer, Self.octets].contains { body.starts(with: [Self.integer, 1, version, $0]) }
        }
    }

    private static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02
    private static let octets: UInt8 = 0x04

    private static func isText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    private static let noValue: UInt8 = 0xFF

    /// The value of each base64 character.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: noValue, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
