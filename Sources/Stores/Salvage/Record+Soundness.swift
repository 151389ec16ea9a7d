/// What speaks for a row's being as it was saved.
extension Record {
  /// Whether a number takes no more bytes than SQLite gives it; true for what is no number.
  ///
  /// SQLite writes each whole number in the shortest form that holds it, and a real number without a
  /// fraction as a whole one.
  package func isShortest(_ column: Int) -> Bool {
    guard isPresent(column) else { return true }
    let field = fields[column]
    switch kind(column) {
    case .integer:
      // File format 1 knows no shorter form of 0 and 1.
      guard field.type > 1, field.type < 8, let number = integer(column) else { return true }
      let bits = 8 * (field.size == 8 ? 6 : field.size == 6 ? 4 : field.size - 1)
      let most = Int64(1) << (bits - 1)
      return number < -most || number >= most
    case .real:
      let number = real(column)
      return !number.isFinite || number.rounded() != number || abs(number) >= 140_737_488_355_328
    default: return true
    }
  }

  /// Whether a value is the last of the row that takes room, and its last bytes are zeros.
  package func endsInZeros(_ column: Int) -> Bool {
    guard isPresent(column), fields[column].size > 1,
      (column + 1..<count).allSatisfy({ fields[$0].size == 0 })
    else { return false }
    // A fraction that few bits hold ends in zeros, too.
    return raw(column).suffix(kind(column) == .real ? 3 : 1).allSatisfy { $0 == 0 }
  }

  /// Whether a column holds a text that is all there and is not UTF-8, as text of Core Data's always is: other
  /// bytes stand in its place.
  package func isGarbled(_ column: Int) -> Bool {
    guard kind(column) == .text, let bytes = content(column), bytes.contains(where: { $0 >= 0x80 })
    else { return false }
    return String(validating: bytes, as: UTF8.self) == nil
  }

  /// Whether any column does.
  func hasGarbledText() -> Bool { (0..<count).contains { isGarbled($0) } }

  /// Whether zeros from a byte of the record on cannot be what was saved: a text or the end of a picture is among
  /// them, or a number that SQLite writes without a byte where it is 0.
  func isUnwritten(from offset: Int) -> Bool {
    (0..<count).contains { column in
      let field = fields[column]
      guard field.size > 0, field.offset + field.size > offset else { return false }
      switch kind(column) {
      case .text: return true
      case .integer: return field.offset >= offset && field.size > 1
      case .real: return field.offset >= offset
      case .blob:
        let bytes = raw(column)
        return FileForm.isCut(bytes) || bytes.first == 1 && FileForm.isCut(bytes.dropFirst())
      case .null: return false
      }
    }
  }

  /// Compares the values behind Z_OPT with those of another row.
  ///
  /// - Returns: how many are the same that few rows share, and how many are not the same.
  package func likeness(to other: borrowing Record) -> (same: Int, different: Int) {
    var result = (same: 0, different: 0)
    for column in 3..<max(3, count, other.count) {
      let value = value(column) ?? .null
      if value != other.value(column) ?? .null {
        result.different += 1
      } else if value.isTelling {
        result.same += 1
      }
    }
    return result
  }
}

extension RecordValue {
  /// Whether few rows are likely to share it: no flag, no small number, nothing empty.
  fileprivate var isTelling: Bool {
    switch self {
    case .null: false
    case .integer(let number): number > 9 || number < -1
    case .real: true
    case .text(let bytes), .blob(let bytes): bytes.count > 2
    }
  }
}
