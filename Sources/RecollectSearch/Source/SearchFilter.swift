import Foundation
import RecollectCore

/// The filter of a query: messages of its user, session, agent, roles and dates, without discarded sessions.
package struct SearchFilter: Hashable, Sendable {
    package let session: SessionRowID?
    package let agentId: ByteString?
    package let roles: Set<ByteString>
    package let timestamps: ClosedRange<Int64>
    /// Whether messages of discarded sessions pass.
    package let includesDiscarded: Bool

    /// Creates the filter of a query, or returns `nil` if no message can pass.
    package init?(_ query: SearchQuery, in source: any SearchSource, includesDiscarded: Bool = false) throws {
        let from = query.from?.millisecondsSince1970 ?? .min
        let until = query.until.map { $0.millisecondsSince1970 - 1 } ?? .max
        guard from <= until else { return nil }
        timestamps = from...until
        agentId = query.agentId.map(ByteString.init)
        roles = Set(query.roles.map { ByteString($0.rawValue) })
        self.includesDiscarded = includesDiscarded
        if let sessionId = query.sessionId {
            session = try source.session(sessionId)
            if session == nil { return nil }
        } else {
            session = nil
        }
    }

    /// Creates the filter that all messages of the user pass, except those of discarded sessions.
    package init() {
        (session, agentId, roles, timestamps, includesDiscarded) = (nil, nil, [], .min ... .max, false)
    }

    /// Whether all messages of the user pass, except those of discarded sessions.
    package var isEmpty: Bool { session == nil && agentId == nil && roles.isEmpty && timestamps == .min ... .max }
}
