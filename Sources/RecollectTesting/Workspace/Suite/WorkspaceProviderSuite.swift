import Foundation
import RecollectCore
import RecollectWorkspace

/// A promise of `WorkspaceProvider` as a value.
public typealias WorkspaceProviderCheck = ConformanceCheck<WorkspaceProviderFixture>

/// The conformance suite of `WorkspaceProvider`.
///
/// ```swift
/// @Test(arguments: WorkspaceProviderSuite.checks)
/// func conforms(_ check: WorkspaceProviderCheck) async throws {
///     try await check.run(on: .workspaceFolders { try FolderProvider(root: $0) })
/// }
/// ```
public enum WorkspaceProviderSuite {
    /// All checks.
    public static let checks: [WorkspaceProviderCheck] =
        FileWriteChecks.all + FileRaceChecks.all + FileListChecks.all + FileNameChecks.all + FileRemovalChecks.all
        + EvictedFileChecks.all + FileChangeSignalChecks.all + WorkspaceRootChecks.all
        + FileLineageChecks.all

    /// Runs all checks one at a time and returns a report.
    ///
    /// - Parameters:
    ///   - fixture: The factory of the provider, with its promises.
    ///   - file: The source file of the call, for failures.
    ///   - line: The source line of the call, for failures.
    public static func report(
        on fixture: StoreFixture<WorkspaceProviderFixture>, file: String = #fileID, line: Int = #line
    ) async -> ConformanceReport {
        await ConformanceReport(checks: checks, fixture: fixture, includingLong: true, file: file, line: line)
    }
}

extension ConformanceCheck where Store == WorkspaceProviderFixture {
    /// Creates a check with blocking calls. They run off the threads shared by tasks.
    init(
        _ name: String, _ promise: String, needs: StoreCapabilities = [],
        blocking body: @escaping @Sendable (WorkspaceProviderFixture, any WorkspaceProvider) throws -> Void
    ) {
        self.init(name, promise, needs: needs) { (fixture: WorkspaceProviderFixture) in
            try await offThePool { try body(fixture, fixture.provider) }
        }
    }
}

/// Runs blocking work off the threads shared by tasks.
func offThePool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await DispatchQueue.global().run(body)
}

extension WorkspaceProvider {
    /// Writes a string.
    func write(_ text: String, to path: String, replacing expected: String?) throws {
        try write(
            Array(text.utf8), to: WorkspacePath(path), replacing: expected.map { ContentHash(of: Array($0.utf8)) })
    }

    /// Removes a file with the given text.
    func remove(_ path: String, holding expected: String) throws {
        try remove(WorkspacePath(path), holding: ContentHash(of: Array(expected.utf8)))
    }

    /// Returns the text of a file.
    func text(at path: String) throws -> String {
        String(decoding: try read(WorkspacePath(path), limit: 1_000_000), as: UTF8.self)
    }

    /// Returns a file or folder; throws if it is missing.
    func existing(_ path: String) throws -> WorkspaceItem {
        guard let item = try item(at: WorkspacePath(path)) else {
            throw BrokenPromise(expected: "an item at \(path)", actual: "nil")
        }
        return item
    }

    /// Returns the names in a folder, sorted by their bytes.
    func names(in folder: WorkspacePath = .root) throws -> [String] {
        try items(in: folder).map(\.path.name).sorted { ByteString($0) < ByteString($1) }
    }
}

/// Throws unless `body` throws a `RecollectError` with one of these codes.
func expectCode(
    _ codes: RecollectError.Code..., of what: String, _ body: () throws -> Void
) throws {
    let expected = "\(codes.map(\.rawValue).joined(separator: " or ")) from \(what)"
    do {
        try body()
    } catch let error as RecollectError {
        return try expect(codes.contains(error.code), expected, actual: "\(error)")
    } catch {
        throw BrokenPromise(expected: expected, actual: "\(error)")
    }
    throw BrokenPromise(expected: expected, actual: "no error")
}

/// Throws unless `body` throws a mismatch with this text as the current content.
func expectMismatch(showing text: String?, from what: String, _ body: () throws -> Void) throws {
    let expected = "a ContentMismatchError with \(text ?? "no file") from \(what)"
    do {
        try body()
    } catch let error as ContentMismatchError {
        let shown = error.current.map { String(decoding: $0, as: UTF8.self) }
        return try expect(shown == text, expected, actual: "a ContentMismatchError with \(shown ?? "no file")")
    } catch {
        throw BrokenPromise(expected: expected, actual: "\(error)")
    }
    throw BrokenPromise(expected: expected, actual: "no error")
}
