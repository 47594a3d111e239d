import ClaudeCodeCore
import Foundation
import Testing

@Suite("Dependency container of the custom session storage guide")
struct DependencyContainerTests {
    @Test("The container returns the given storage, and otherwise stores sessions in user defaults")
    func storages() {
        let mock = MockSessionStorage()
        let preferences = GlobalPreferencesStorage()
        let given = DependencyContainer(globalPreferences: preferences, customSessionStorage: mock)
        #expect(given.sessionStorage as? MockSessionStorage === mock)
        #expect(given.globalPreferences === preferences)
        let container = DependencyContainer(globalPreferences: preferences)
        #expect(container.sessionStorage is UserDefaultsSessionStorage)
    }

    @Test("The container can be created and used on the main actor")
    @MainActor
    func mainActor() async throws {
        let container = DependencyContainer(
            globalPreferences: GlobalPreferencesStorage(), customSessionStorage: MockSessionStorage())
        try await container.sessionStorage.saveSession(id: "a", firstMessage: "hello")
        #expect(try await container.sessionStorage.getAllSessions().map(\.id) == ["a"])
    }

    @Test("Preferences may change while a storage in the same suite saves")
    func preferencesBesideStorage() async throws {
        let suite = "recollect-\(UUID().uuidString)"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        let storage = UserDefaultsSessionStorage(suiteName: suite)
        let preferences = GlobalPreferencesStorage(suiteName: suite)
        async let changes: Void = {
            for number in 1...80 {
                preferences.maxTurns = number
                await Task.yield()
            }
        }()
        for number in 0..<50 { try await storage.saveSession(id: "\(number)", firstMessage: "hello") }
        await changes
        #expect(try await UserDefaultsSessionStorage(suiteName: suite).getAllSessions().count == 50)
        #expect(GlobalPreferencesStorage(suiteName: suite).maxTurns == 80)
        // The app itself reads them as user defaults.
        #expect(UserDefaults(suiteName: suite)?.integer(forKey: "recollect.preferences/maxTurns") == 80)
    }

    @Test("Preferences are saved, shared by all instances, and removed when set to nil")
    func preferences() {
        let suite = "recollect-\(UUID().uuidString)"
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        let preferences = GlobalPreferencesStorage(suiteName: suite)
        let others = GlobalPreferencesStorage(suiteName: suite)
        #expect(preferences.maxTurns == nil && preferences.systemPrompt == nil)
        preferences.maxTurns = 12
        preferences.systemPrompt = "Be brief."
        preferences.allowedTools = ["Read", "Grep"]
        preferences.defaultWorkingDirectory = "/tmp"
        #expect(others.maxTurns == 12 && others.systemPrompt == "Be brief.")
        #expect(others.allowedTools == ["Read", "Grep"] && others.defaultWorkingDirectory == "/tmp")
        preferences.maxTurns = nil
        preferences.allowedTools = nil
        #expect(others.maxTurns == nil && others.allowedTools == nil)
    }
}
