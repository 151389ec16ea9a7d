/// A row that was found in room that is no longer in use.
struct CarvedRow {
  /// What is left of a key whose first bytes were overwritten.
  struct KeyHint: Sendable, Equatable {
    /// Bytes that the key takes in the cell.
    var length: Int
    /// Its last bits, as far as they are left.
    var low: Int64
    /// How many these are.
    var bits: Int

    /// Whether a key takes so many bytes, and ends in these bits.
    func fits(_ key: Int64) -> Bool {
      guard key > 0 else { return false }
      let significant = Int64.bitWidth - key.leadingZeroBitCount
      return (significant + 6) / 7 == length && key & ((1 << bits) - 1) == low
    }
  }

  /// Which of the shapes it has.
  var shape: Int
  /// The cell in the page.
  var range: Range<Int>
  /// Its key, where the cell still has it.
  var key: Int64?
  /// What is left of it where not.
  var hint: KeyHint?
  /// The record, with a header that is whole.
  var payload: [UInt8]
  /// Bytes that the record has; more than the payload where the rest is on other pages.
  var size: Int
  /// The first page of the rest; 0 where all is here.
  var overflow: Int
}
