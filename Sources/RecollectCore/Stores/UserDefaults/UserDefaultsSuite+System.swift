#if canImport(Darwin)
    import Foundation

    extension UserDefaultsSuite {
        /// The contents of a suite in the system.
        struct Contents {
            private let defaults: UserDefaults

            init(of suite: String) {
                defaults = suite.isEmpty ? .standard : UserDefaults(suiteName: suite) ?? .standard
            }

            func begin(making: Bool) throws {}
            func end() {}

            var keys: [String] { Array(defaults.dictionaryRepresentation().keys) }

            subscript(_ key: String) -> Any? { defaults.object(forKey: key) }

            /// Passes the changes to the system. The system writes them at a time of its choice.
            func write(_ changes: [String: Any?]) throws {
                for (key, value) in changes {
                    if let value { defaults.set(value, forKey: key) } else { defaults.removeObject(forKey: key) }
                }
                defaults.synchronize()
            }
        }
    }
#endif
