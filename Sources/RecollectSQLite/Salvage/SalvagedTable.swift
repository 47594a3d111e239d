import RecollectCore

/// A table with rows that cannot be derived from others. It is recognized by its rows alone: interior pages, roots
/// and the schema may be missing.
///
/// A row of an older schema has fewer values. Rows of other tables have other types.
enum SalvagedTable: String, CaseIterable {
    case session
    case scope
    case message
    case change
    case streamingReply = "streaming_reply"
    case compaction

    init?(rowOf record: DamagedRecord) {
        guard let table = Self.allCases.first(where: { $0.mayHold(record) }) else { return nil }
        self = table
    }

    private func mayHold(_ record: DamagedRecord) -> Bool {
        switch self {
        case .session:
            record.begins(with: [.null, .text, .text, .integer, .integer, .integer]) && record.count >= 10
        case .scope: record.begins(with: [.null, .integer, .text, .integer]) && record.count == 4
        case .message:
            record.begins(with: [.null, .integer, .integer, .integer, .integer, .text, .text]) && record.count >= 12
        case .change: record.begins(with: [.null, .text, .text, .text]) && (6...7).contains(record.count)
        case .streamingReply:
            record.begins(with: [.null, .integer, .text, .text, .text, .text, .integer]) && record.count >= 11
        case .compaction:
            record.begins(
                with: [.null, .integer, .integer, .integer, .integer, .integer, .text, .text, .text, .text])
                && record.count == 11
        }
    }
}

/// An index entry with information about a row, recognized by its types.
enum SalvagedEntry {
    /// The user and ID of a session, from an index of sessions by a date.
    case session(id: Int64, userId: String, sessionId: String, time: Int64)
    /// The title of a session, from the index of sessions by title.
    case title(id: Int64, String)
    /// The user and ID of a session, from their unique index. Indexes of other tables may have entries of the same
    /// types.
    case unique(id: Int64, userId: String, sessionId: String)
    /// An agent's scope, from the unique index of scopes. Entries of message IDs and of streaming replies have the
    /// same types.
    case named(Int64, name: String, Int64)
    /// A message's position, from the index of messages by position.
    case position(scope: Int64, sequence: Int64)
    /// A session's tag.
    case tag(session: Int64, String)
    /// Pending work of a deletion.
    case erasure(Eraser.Kind, number: Int64, name: String)

    init?(_ record: DamagedRecord) {
        let kinds = (0..<record.count).prefix(5).map(record.kind)
        switch kinds {
        case [.text, .integer, .text, .integer]:
            guard let user = record.text(0), let session = record.text(2) else { return nil }
            self = .session(
                id: record.integer(3), userId: user, sessionId: session, time: record.integer(1))
        case [.text, .text, .text, .integer]:
            guard let title = record.text(1), title != record.text(2) else { return nil }
            self = .title(id: record.integer(3), title)
        case [.text, .text, .integer]:
            guard let user = record.text(0), let session = record.text(1) else { return nil }
            self = .unique(id: record.integer(2), userId: user, sessionId: session)
        case [.text, .integer, .text]:
            guard let kind = record.text(0).flatMap(Eraser.Kind.init(rawValue:)), let name = record.text(2) else {
                return nil
            }
            self = .erasure(kind, number: record.integer(1), name: name)
        case [.integer, .text, .integer]:
            guard let name = record.text(1) else { return nil }
            self = .named(record.integer(0), name: name, record.integer(2))
        case [.integer, .integer, .integer]: self = .position(scope: record.integer(0), sequence: record.integer(2))
        case [.integer, .text]:
            guard let tag = record.text(1), !Attachment.isHash(tag) else { return nil }
            self = .tag(session: record.integer(0), tag)
        case [.text, .integer]:
            guard let tag = record.text(0), !Attachment.isHash(tag), !Self.settingsOfFTS5.contains(tag),
                !Self.isMigration(tag, record.integer(1))
            else { return nil }
            self = .tag(session: record.integer(1), tag)
        default: return nil
        }
    }

    /// Whether a string and a number are an entry of the index of migrations.
    private static func isMigration(_ name: String, _ row: Int64) -> Bool {
        migrations.firstIndex(of: name).map { Int64($0) + 1 } == row
    }

    private static let migrations = Schema.migrator.migrations

    /// The keys of the search index's settings, stored as rows of a string and a number like entries of the index of
    /// tags.
    private static let settingsOfFTS5: Set<String> = [
        "version", "pgsz", "hashsize", "automerge", "usermerge", "crisismerge", "deletemerge", "rank", "secure-delete",
    ]
}
