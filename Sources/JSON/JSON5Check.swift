/// What keeps a text from being JSON5, for files that another decoder reads without saying where.
package struct JSON5Check: Sendable, Equatable {
  /// What is wrong, as a clause.
  package let message: String
  /// From 1 on.
  package let line: Int

  /// - Returns: `nil` where the text is JSON5.
  package init?(_ bytes: [UInt8]) {
    do {
      _ = try JSON5.read(bytes)
      return nil
    } catch {
      message = error.message
      line = 1 + bytes.prefix(error.range.lowerBound).count { $0 == UInt8(ascii: "\n") }
    }
  }
}
