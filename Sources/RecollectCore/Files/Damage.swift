import Foundation

/// The error for a file that is not a single complete array of messages, with the file's bytes for the repair.
struct Damage: Error {
    let bytes: [UInt8]
    /// The ranges of the readable messages. Of several with one ID, only the first one.
    let ranges: [Range<Int>]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        var ids: Set<ByteString> = []
        ranges = MessageSalvage(of: bytes) { EncodedMessage(stored: bytes[$0]) != nil }.messages().filter {
            EncodedMessage(stored: bytes[$0]).map { ids.insert(ByteString($0.message.id)).inserted } ?? false
        }
    }

    /// The readable messages.
    var messages: [ConversationMessage] {
        ranges.compactMap { EncodedMessage(stored: bytes[$0])?.message }
    }

    /// The JSON array of the readable messages, with unchanged bytes for each.
    var salvaged: [UInt8] {
        MessageArray.joined(ranges.map { bytes[$0] })
    }

    /// Whether the bytes show no sign of a chat store: no readable message, and no opening bracket at the
    /// beginning.
    var looksForeign: Bool {
        ranges.isEmpty && bytes.first { $0 != 0 && $0 != Byte.space } != Byte.openingBracket
    }
}

/// Performs work on a file, and throws a failed system call as a `RecollectError` with the path.
///
/// Another kind of file at the path is thrown as `foreignStore`. Errors other than `POSIXFailure` pass unchanged.
package func explaining<Result>(_ action: String, _ path: String, _ work: () throws -> Result) throws -> Result {
    do {
        return try work()
    } catch let failure as POSIXFailure {
        switch failure.number {
        case ENOTDIR, ELOOP, EISDIR, ENXIO:
            let what =
                switch failure.number {
                case EISDIR: "is a folder, and a file is wanted"
                case ELOOP: "is a symbolic link, which is not followed"
                case ENXIO: "is a pipe, a socket or a device, and a file is wanted"
                default: "is no folder, or lies below a file"
                }
            throw RecollectError(
                .foreignStore, "\(path) \(what); it was left untouched: move it away or name another place",
                cause: failure)
        default:
            throw RecollectError(failure, doing: action, path: path)
        }
    }
}

/// Returns the result of work on a file or folder; `nil` if it does not exist.
package func ifThere<Result>(_ work: () throws -> Result) throws -> Result? {
    do {
        return try work()
    } catch let failure as POSIXFailure where failure.number == ENOENT {
        return nil
    }
}
