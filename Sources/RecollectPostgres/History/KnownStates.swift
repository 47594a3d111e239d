#if Postgres
    import RecollectCore

    /// The states of scopes after the last writes to their sessions by this process, for saves in one statement.
    ///
    /// A state is only used while its revision is that of the session, so an outdated one costs time and nothing else.
    final class KnownStates: Sendable {
        /// The maximum number of sessions.
        private static let limit = 4_096
        private let states = Locked<[SessionKey: [ByteString: AppendState]]>([:])

        func state(of scope: Scope) -> AppendState? {
            states.withLock { $0[scope.session]?[ByteString(scope.agentId)] }
        }

        /// Notes the state of a scope after an append, and what the append has changed for other scopes of the session.
        /// - Parameters:
        ///   - state: The state; `nil` if it is not known.
        ///   - revision: The revision before an append that has only added messages at the end of the session; `nil` after another
        ///     one, which may have changed the other scopes.
        func note(_ state: AppendState?, of scope: Scope, after revision: Int64?) {
            guard let state else { return forget(scope.session) }
            let agent = ByteString(scope.agentId)
            states.withLock { states in
                if states.count >= Self.limit, states[scope.session] == nil { states.removeAll() }
                var scopes = (states[scope.session] ?? [:]).filter { $0.value.revision == revision }
                for other in scopes.keys {
                    scopes[other]?.follow(state)
                    if agent.string.isEmpty { scopes[other]?.unassigned = state.scope }
                }
                scopes[agent] = state
                states[scope.session] = scopes
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
#endif
