#if canImport(Darwin)
    import Foundation

    extension UserDefaultsSuite {
        /// What the system holds of a suite.
        struct Contents {
            private let defaults: UserDefaults

            init(of suite: String) {
                defaults = suite.isEmpty ? .standard : UserDefaults(suiteName: suite) ?? .standard
            }

            func begin(making: Bool) throws {}
            func end() {}

            var keys: [String] { Array(defaults.dictionaryRepresentation().keys) }

            subscript(_ key: String) -> Any? { defaults.object(forKey: key) }

            /// Gives the system the changes, which it writes by itself.
            func write(_ changes: [String: Any?]) throws {
                for (key, value) in changes {
                    if let value { defaults.set(value, forKey: key) } else { defaults.removeObject(forKey: key) }
                }
                defaults.synchronize()
            }
        }
    }
#endif
