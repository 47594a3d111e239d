import Foundation
import RecollectCore

/// A file of which parts may not be readable.
///
/// A place that stays unreadable while others can be read is damage. A disk that fails for a moment, or gives nothing at all, is
/// none: a salvage would lose what the disk gives again later.
final class DamagedFile {
    /// The length in bytes; 0 without a file.
    let size: Int

    private let file: OpenFile?
    /// How many bytes could not be read, by their offset.
    private var unreadable: [Int: Int] = [:]

    /// A file that is not there.
    init() {
        file = nil
        size = 0
    }

    init(_ file: OpenFile) throws {
        self.file = file
        size = try file.size()
    }

    /// The bytes at an offset: fewer than `count` where the file ends, none where it cannot be read.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        guard let file, unreadable[offset] == nil else { return [] }
        do {
            return try file.read(at: offset, count: count)
        } catch {
            unreadable[offset] = count
            return []
        }
    }

    /// Confirms that what could not be read is damage.
    /// - Throws: `inputOutput` if it can be read now, or if more than half of the file cannot.
    func confirm() throws {
        guard let file, !unreadable.isEmpty else { return }
        let isPassing = unreadable.contains { offset, count in (try? file.read(at: offset, count: count)) != nil }
        guard !isPassing, unreadable.values.reduce(0, +) * 2 <= size else {
            throw RecollectError(
                .inputOutput,
                "\(file.path) could not be read; nothing was changed; check the disk and try again")
        }
    }
}
