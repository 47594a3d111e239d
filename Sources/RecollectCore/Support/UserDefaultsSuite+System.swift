#if canImport(Darwin)
    import Foundation

    extension UserDefaultsSuite {
        /// The system has taken the values over already, and writes them by itself.
        static func write(_ changes: [String: Any?], to suite: String, of defaults: UserDefaults) throws {
            defaults.synchronize()
        }
    }
#endif
