/// The outcome of a power cut: all synced data, and some of the later changes.
///
/// A write may be torn. A disk finishes a sector once begun, so existing bytes of the file are replaced by whole
/// sectors: in practice this is "powersafe overwrite", assumed by SQLite as well
/// (https://www.sqlite.org/psow.html). A file's length is separate metadata of the file system, so the file may
/// end at any added byte.
struct PowerCut: Sendable {
    /// The number of the outcome: 0 has only synced data; 1 has all changes, with the last write of each file
    /// torn; others are drawn.
    let variant: Int
    let seed: UInt64

    /// The number of bytes written by a disk as a whole.
    private static let sector = 512

    /// Returns the image after the power cut.
    func image(of disk: DiskImage) -> DiskImage {
        guard variant > 0 else { return DiskImage(names: disk.certainNames, contents: disk.certainContents) }
        var generator = SeededGenerator(seed: seed &+ UInt64(variant) &* 0x9E37_79B9)
        var names = disk.certainNames
        let nameShare = variant == 1 ? 4 : Int.random(in: 0...4, using: &generator)
        for change in disk.pendingNames where Int.random(in: 0..<4, using: &generator) < nameShare {
            DiskImage.apply(change, to: &names)
        }
        var contents = disk.certainContents
        for (number, changes) in disk.pendingContents.sorted(by: { $0.key < $1.key }) {
            let share = variant == 1 ? 4 : Int.random(in: 0...4, using: &generator)
            for (index, change) in changes.enumerated() where Int.random(in: 0..<4, using: &generator) < share {
                let isLast = index == changes.count - 1
                let isTorn = isLast && (variant == 1 || Bool.random(using: &generator))
                let size = contents[number]?.count ?? 0
                let kept = isTorn ? Self.torn(change, in: size, &generator) : change
                DiskImage.apply(kept, to: &contents[number, default: []])
            }
        }
        return DiskImage(names: names, contents: contents)
    }

    /// Returns the beginning of an interrupted write: up to any byte behind the file's end, and within the file up
    /// to the end of a sector.
    ///
    /// - Parameter size: The length of the file before the write.
    private static func torn(
        _ change: DiskImage.ContentChange, in size: Int, _ generator: inout SeededGenerator
    ) -> DiskImage.ContentChange {
        guard case .write(let offset, let bytes) = change, bytes.count > 1 else { return change }
        var end = Int.random(in: offset..<offset + bytes.count, using: &generator)
        if end < size || Bool.random(using: &generator) { end -= end % sector }
        return .write(offset: offset, bytes: Array(bytes.prefix(max(0, end - offset))))
    }
}
