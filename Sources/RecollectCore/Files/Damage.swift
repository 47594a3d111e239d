import Foundation

/// A file that is not one whole array of messages, with its bytes: what reading it throws, and what healing starts from.
struct Damage: Error {
    let bytes: [UInt8]
    /// Where the messages lie that can be read.
    let ranges: [Range<Int>]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        ranges = MessageArray.salvage(bytes) { EncodedMessage(stored: bytes[$0]) != nil }
    }

    /// The messages that can be read.
    var messages: [ConversationMessage] {
        ranges.compactMap { EncodedMessage(stored: bytes[$0])?.message }
    }

    /// The JSON array of the messages that can be read, each as it was.
    var salvaged: [UInt8] {
        MessageArray.joined(ranges.map { bytes[$0] })
    }

    /// Whether nothing speaks for these bytes having been written by a chat store.
    var looksForeign: Bool {
        ranges.isEmpty && bytes.first { $0 != 0 && $0 != Byte.space } != Byte.openingBracket
    }
}

/// Runs a piece of file work and turns a failed system call into the error that callers get, with the path that it is about.
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

/// The result of work on something that need not be there: `nil` where it is not.
package func ifThere<Result>(_ work: () throws -> Result) throws -> Result? {
    do {
        return try work()
    } catch let failure as POSIXFailure where failure.number == ENOENT {
        return nil
    }
}
