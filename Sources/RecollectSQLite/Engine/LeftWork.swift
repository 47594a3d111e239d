import GRDB

/// What earlier openings and other processes left to do, as an opening found it. Whoever opens the database goes on with it.
struct LeftWork: Sendable {
    /// Something that was deleted is still to be erased.
    var erasing = false
    /// Messages are still to be settled or indexed.
    var following = false
}

extension LeftWork {
    init(_ db: Database) throws {
        erasing = try Erasing.isPending(db)
        following = try SearchIndex.isBehind(db) || Settling.isBehind(db)
    }
}
