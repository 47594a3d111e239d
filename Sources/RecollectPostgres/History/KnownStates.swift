#if Postgres
    import RecollectCore

    /// The states of scopes after the last writes to their sessions by this process, for saves in one statement.
    ///
    /// A state is only used while its revision is that of the session, so an outdated one costs time and nothing else.
    final class KnownStates: Sendable {
        /// The maximum number of sessions.
        private static let limit = 4_096
        private let states = Locked<[SessionKey: SessionStates]>([:])

        func state(of scope: Scope) -> AppendState? { states(of: scope.session).state(of: scope.agentId) }

        func states(of session: SessionKey) -> SessionStates {
            states.withLock { $0[session] } ?? SessionStates()
        }

        /// Notes the state of a scope after an append: see `SessionStates`.
        /// - Parameter state: The state; `nil` if it is not known.
        func note(_ state: AppendState?, of scope: Scope, after revision: Int64?) {
            guard let state else { return forget(scope.session) }
            states.withLock { states in
                if states.count >= Self.limit, states[scope.session] == nil { states.removeAll() }
                states[scope.session, default: SessionStates()].note(state, of: scope.agentId, after: revision)
            }
        }

        /// Forgets all scopes of a session.
        func forget(_ session: SessionKey) {
            states.withLock { $0[session] = nil }
        }

        /// Forgets all scopes of a user.
        func forget(user userId: String) {
            states.withLock { states in
                states = states.filter { !$0.key.userId.hasSameBytes(as: userId) }
            }
        }
    }

    /// The known states of the scopes of one session.
    struct SessionStates: Sendable {
        private var scopes: [ByteString: AppendState] = [:]

        func state(of agentId: String) -> AppendState? { scopes[ByteString(agentId)] }

        /// Notes the state of a scope after an append, and its effects on the other scopes.
        /// - Parameter revision: The revision before the append, if it has only added messages at the end of the session; otherwise `nil`,
        ///   because it may have changed the other scopes.
        mutating func note(_ state: AppendState, of agentId: String, after revision: Int64?) {
            let agent = ByteString(agentId)
            scopes = scopes.filter { $0.value.revision == revision }
            for other in scopes.keys {
                scopes[other]?.follow(state)
                if agentId.isEmpty { scopes[other]?.unassigned = state.scope }
            }
            scopes[agent] = state
        }
    }
#endif
