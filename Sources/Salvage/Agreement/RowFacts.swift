/// What the rows of a table come to, counted while they are read for another reason.
package struct RowFacts: Sendable {
  /// What is to be found out, in columns by their place.
  package struct Question: Sendable {
    /// The column that shows what kind of row it is, a number.
    package var kind: Int?
    /// Whether the rows' own keys are kept.
    package var keys: Bool
    /// Columns that hold keys of other rows.
    package var references: [Int]
    /// Columns of bytes, of which those are looked for that begin with `mark`.
    package var marked: [Int]
    package var mark: UInt8

    package init(kind: Int?, keys: Bool, references: [Int], marked: [Int], mark: UInt8) {
      self.kind = kind
      self.keys = keys
      self.references = references
      self.marked = marked
      self.mark = mark
    }
  }

  /// The rows of one kind.
  package struct Kind: Sendable {
    /// What the column of kinds has; `nil` without such a column.
    package let number: Int64?
    package fileprivate(set) var rows = 0
    /// How many rows hold NULL, by column; a row may be too short to have the last ones.
    fileprivate var nulls: [Int] = []
    /// Rows by how many columns they have.
    fileprivate var widths: [Int] = []
    package fileprivate(set) var keys = KeyBits()
    /// Keys of the rows whose bytes begin with the mark, for each column that was asked for.
    package fileprivate(set) var marked: [[Int64]]

    /// How many rows hold NULL in a column.
    package func nulls(in column: Int) -> Int {
      let short = widths.prefix(column + 1).reduce(0, +)
      return (nulls.indices.contains(column) ? nulls[column] : 0) + short
    }
  }

  /// Most keys that are kept of rows whose bytes begin with the mark.
  package static let mostMarked = 1000

  package let question: Question
  package private(set) var kinds: [Kind] = []
  /// The keys in each column of references.
  package private(set) var references: [KeyBits]
  /// Whether a row has a kind, or a reference, that is no whole number: nothing is reported then.
  package private(set) var isUnclear = false
  /// The kind of the row that was added last, which is not among the others meanwhile.
  private var current = Kind(number: nil, marked: [])
  private var hasCurrent = false
  private var shortest = Int.max

  package init(_ question: Question) {
    self.question = question
    references = question.references.map { _ in KeyBits() }
  }

  /// Whether every row has a value of its own in a column, if only NULL: what a shorter row holds there
  /// is in the schema.
  package func reaches(_ column: Int) -> Bool { shortest > column }

  /// Adds a row.
  @inline(__always)
  mutating func add(_ key: Int64, _ record: borrowing Record) {
    var number: Int64?
    if let column = question.kind {
      guard let found = record.integer(column) else {
        isUnclear = true
        return
      }
      number = found
    }
    if number != current.number || !hasCurrent { guard isFound(number) else { return } }
    current.rows += 1
    if question.keys { current.keys.insert(key) }
    let width = record.count
    if width >= current.widths.count {
      current.widths += [Int](repeating: 0, count: width + 1 - current.widths.count)
      current.nulls += [Int](repeating: 0, count: width + 1 - current.nulls.count)
    }
    current.widths[width] += 1
    shortest = min(shortest, width)
    current.nulls.withUnsafeMutableBufferPointer { record.countNulls($0) }
    for place in 0..<question.references.count {
      let column = question.references[place]
      if let key = record.integer(column) {
        references[place].insert(key)
      } else if !record.isNull(column) {
        isUnclear = true
      }
    }
    for place in 0..<question.marked.count
    where record.begins(question.marked[place], with: question.mark) {
      if current.marked[place].count <= Self.mostMarked { current.marked[place].append(key) }
    }
  }

  /// Goes on with rows of another kind.
  private mutating func isFound(_ number: Int64?) -> Bool {
    finish()
    guard let known = kinds.firstIndex(where: { $0.number == number }) else {
      // A column that held so many would be none of kinds.
      guard kinds.count < 4096 else {
        isUnclear = true
        return false
      }
      current = Kind(number: number, marked: question.marked.map { _ in [] })
      hasCurrent = true
      return true
    }
    // What is counted is held once, and changed where it is.
    current = Kind(number: number, marked: [])
    swap(&current, &kinds[known])
    kinds.remove(at: known)
    hasCurrent = true
    return true
  }

  /// Ends: all rows were added.
  mutating func finish() {
    if hasCurrent { kinds.append(current) }
    hasCurrent = false
  }
}

/// Keys of rows, a bit for each: for keys in no order, of which there may be millions.
package struct KeyBits: Sendable, Equatable {
  /// Most stretches of 65,536 keys, which take 4 MB: more than any table has whose keys were counted up.
  private static let most = 512
  private static let wordsInStretch = 1024

  private var words: [UInt64] = []
  /// Which stretch of `words` holds the keys that begin alike.
  private var stretches: [Int64: Int] = [:]
  private var last = Int64.min
  private var lastStretch = 0
  /// Whether keys were left out, since they lie too far from each other.
  package private(set) var isCutShort = false

  /// One without keys.
  package init() {}

  /// Adds a key.
  @inline(__always)
  package mutating func insert(_ key: Int64) {
    let high = key >> 16
    if high != last, !find(high) { return }
    words[lastStretch + Int(key & 0xFFFF) >> 6] |= 1 << UInt64(key & 63)
  }

  private mutating func find(_ high: Int64) -> Bool {
    if let known = stretches[high] {
      lastStretch = known
    } else {
      guard stretches.count < Self.most else {
        isCutShort = true
        return false
      }
      lastStretch = words.count
      stretches[high] = lastStretch
      words += [UInt64](repeating: 0, count: Self.wordsInStretch)
    }
    last = high
    return true
  }

  /// Whether each of its keys is in one of others; `nil` where that is not known.
  package func isSubset(of others: [KeyBits]) -> Bool? {
    guard !isCutShort, !others.contains(where: \.isCutShort) else { return nil }
    for (high, stretch) in stretches {
      let there = others.compactMap { other in other.stretches[high].map { (other, $0) } }
      for word in 0..<Self.wordsInStretch {
        let all = there.reduce(UInt64(0)) { $0 | $1.0.words[$1.1 + word] }
        if words[stretch + word] & ~all != 0 { return false }
      }
    }
    return true
  }
}
