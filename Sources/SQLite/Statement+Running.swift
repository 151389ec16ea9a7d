extension Statement {
  /// Runs the statement with these values, to its end.
  package func run(_ values: [Value]) throws {
    try bind(values)
    while try step() {}
  }

  /// The same with as many of the values as the statement has parameters.
  package func run(first values: [Value]) throws {
    try run(parameterCount < values.count ? Array(values[..<parameterCount]) : values)
  }

  /// All rows that the statement answers; for few.
  package func rows(_ values: [Value]) throws -> [[Value]] {
    try bind(values)
    var rows: [[Value]] = []
    while try step() { rows.append(row()) }
    return rows
  }

  /// The first row that the statement answers; empty where there is none.
  package func firstRow(_ values: [Value]) throws -> [Value] {
    try bind(values)
    defer { reset() }
    return try step() ? row() : []
  }
}
