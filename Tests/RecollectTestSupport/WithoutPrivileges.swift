import Foundation

/// Performs work with the permissions of a user who is not root, on this thread only.
package func withoutPrivileges<Result>(_ work: () throws -> Result) throws -> Result {
    #if os(Linux)
        guard geteuid() == 0 else { return try work() }
        // Swift does not import glibc's header for it.
        typealias Setter = @convention(c) (uid_t) -> Int32
        guard let setter = dlsym(nil, "setfsuid") else { throw CocoaError(.featureUnsupported) }
        let setUser = unsafeBitCast(setter, to: Setter.self)
        _ = setUser(65_534)
        defer { _ = setUser(0) }
    #endif
    return try work()
}
