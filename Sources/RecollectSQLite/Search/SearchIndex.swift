import GRDB
import RecollectCore
// TEMPORARY until the search branch lands
enum SearchIndex {
    static func install(on db: Database) throws {}
    static func prepare(_ db: Database) throws {}
    static func isBehind(_ db: Database) throws -> Bool { false }
    static func advance(_ db: Database, limit: Int) throws -> Bool { false }
    static func remove(_ db: Database, sequences: [Int64]) throws {}
    static func rebuild(_ db: Database) throws {}
    static func erase(_ db: Database) throws {}
    static func search(_ db: Database, _ q: SearchQuery) throws -> Page<SearchHit, SearchCursor> { Page(elements: [], next: nil) }
}
