import Crypto
import Foundation
import RecollectCore

/// One file of a device's lineage log, oldest line first.
///
/// The first line has the format, the device and the segment's number. The last line has the SHA-256 of all lines
/// before it. A file without a valid last line is incomplete and is ignored, because services deliver files in parts.
///
/// ```
/// recollect-lineage 1 4f1c… 12
/// =	1763712000000	observed	<hash>	<parents>		context.md
/// # <hash of the lines above>
/// ```
struct LineageSegment: Hashable {
    /// The device's name: random, different for each state folder.
    let device: String
    let number: Int
    var lines: [VersionLine] = []

    init(device: String, number: Int) {
        self.device = device
        self.number = number
    }

    /// The name of its file.
    var name: String { Self.name(device: device, number: number) }

    static func name(device: String, number: Int) -> String { "\(device)-\(number).lineage" }

    private var text: [UInt8] {
        Array("\(Self.format) \(device) \(number)\n".utf8) + lines.flatMap(\.bytes)
    }

    /// The content of its file.
    var bytes: [UInt8] {
        let text = text
        return text + Array("# \(ContentHash(of: text).rawValue)\n".utf8)
    }

    /// Creates a segment from a file; `nil` if the file is incomplete or not a segment. Unreadable lines are
    /// ignored.
    init?(_ bytes: [UInt8]) {
        // "# ", 64 digits and a line end.
        guard bytes.count > 67 else { return nil }
        let text = bytes.dropLast(67)
        guard text.last == UInt8(ascii: "\n"),
            bytes.suffix(67).elementsEqual("# \(ContentHash(of: text).rawValue)\n".utf8)
        else { return nil }
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let header = lines.first.map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        guard header.count == 4, header[0...1].joined(separator: " ") == Self.format, let number = Int(header[3]),
            number >= 0
        else { return nil }
        self.init(device: String(header[2]), number: number)
        self.lines = lines.dropFirst().compactMap { VersionLine($0) }.filter { $0.mark == .done }
    }

    private static let format = "recollect-lineage 1"
}
