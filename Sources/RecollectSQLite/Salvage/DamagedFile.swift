import Foundation
import RecollectCore
import RecollectFileSystem

/// A file with unreadable parts.
///
/// A part is damaged if it stays unreadable while others are readable. A temporary or complete failure of a disk
/// is not damage: a salvage would lose data still on the disk.
final class DamagedFile {
    /// The length in bytes; 0 without a file.
    let size: Int

    private let file: OpenFile?
    /// The lengths of the unreadable parts in bytes, by offset.
    private var unreadable: [Int: Int] = [:]

    /// Creates a missing file.
    init() {
        file = nil
        size = 0
    }

    init(_ file: OpenFile) throws {
        self.file = file
        size = try file.size()
    }

    /// Whether all reads succeeded.
    var isReadable: Bool { unreadable.isEmpty }

    /// Returns the bytes at an offset: fewer than `count` at the end of the file, none if they cannot be read.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        guard let file, unreadable[offset] == nil else { return [] }
        do {
            return try file.read(at: offset, count: count)
        } catch {
            unreadable[offset] = count
            return []
        }
    }

    /// Confirms the damage of unreadable parts.
    /// - Parameter isUnreadable: Whether there must be such parts.
    /// - Throws: `inputOutput` if any of them is readable now, if more than half of the file is unreadable, or if
    ///   there must be some and there are none.
    func confirm(isUnreadable: Bool = false) throws {
        guard let file, isUnreadable || !unreadable.isEmpty else { return }
        let isPassing = unreadable.contains { offset, count in (try? file.read(at: offset, count: count)) != nil }
        guard !isPassing, !unreadable.isEmpty, unreadable.values.reduce(0, +) * 2 <= size else {
            throw RecollectError(
                .inputOutput,
                "\(file.path) could not be read; nothing was changed; check the disk and try again")
        }
    }
}
