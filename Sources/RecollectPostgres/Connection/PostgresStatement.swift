#if Postgres
    /// A statement of SQL with its parameters, `$1` and so on.
    struct PostgresStatement: Sendable {
        let sql: String
        let parameters: [PostgresValue]

        init(_ sql: String, _ parameters: PostgresValue...) {
            self.init(sql, parameters: parameters)
        }

        init(_ sql: String, parameters: [PostgresValue]) {
            self.sql = sql
            self.parameters = parameters
        }

        /// The size of the texts and byte strings of the parameters in bytes.
        var byteCount: Int { parameters.reduce(0) { $0 + $1.byteCount } }
    }
#endif
