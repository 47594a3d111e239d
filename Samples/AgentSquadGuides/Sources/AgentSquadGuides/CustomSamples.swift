// "Wire it up exactly like the built-in stores", of the guide "Custom storage", unchanged.

import AgentSquad

/// The guide's own store behind an orchestrator.
public func customStore(agent: any AgentProtocol) -> (UserDefaultsChatStorage, Orchestrator) {
    let store = UserDefaultsChatStorage(suiteName: "group.com.example.app")
    let orchestrator = Orchestrator(agents: [agent], store: store)
    return (store, orchestrator)
}
