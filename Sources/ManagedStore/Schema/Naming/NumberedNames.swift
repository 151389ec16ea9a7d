/// Names of a hierarchy's columns, of which the second and further ones of a kind are numbered.
///
/// The number is kept under the name without it. A numbered name does not count as in use itself:
/// `foo` in two subentities and `foo1` in a third make ZFOO, ZFOO1 and ZFOO1 once more, and Core Data
/// cannot make such a store, either (store-format-2 §2).
struct NumberedNames {
  private var last: [String: Int] = [:]

  /// The name, with a number where it is in use.
  mutating func unused(_ name: String) -> String {
    guard var number = last.updateValue(0, forKey: name) else { return name }
    repeat { number += 1 } while last[name + String(number)] != nil
    last[name] = number
    return name + String(number)
  }
}

extension String {
  /// The name as Core Data writes it in an attribute's column: ASCII letters alone are made upper
  /// case, of names below 512 units (store-format-2 §2).
  var attributeColumnBase: String {
    guard utf16.count < 512 else { return uppercased() }
    return String(
      decoding: utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 },
      as: UTF8.self)
  }
}
