import ManagedModel

/// Characters that may stand for each other: of one alphabet, one category and the same number of bytes, also in
/// lower case, in upper case and without marks.
final class ScalarClasses {
  /// A character's class and its place there.
  struct Member {
    let characters: [Unicode.Scalar]
    let place: Int
  }

  private struct Key: Hashable {
    let category: UInt8
    let sizes: [Int]
  }

  /// Alphabets that are larger than a block.
  private static let large: [ClosedRange<UInt32>] = [
    0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0x2_0000...0x2_A6DF,
  ]
  private static let blockSize: UInt32 = 0x80

  private var members: [Unicode.Scalar: Member] = [:]
  private var known: Set<UInt32> = []

  /// - Returns: `nil` for what stays as it is: ASCII, which has alphabets of its own, spaces, marks, controls.
  func member(_ scalar: Unicode.Scalar) -> Member? {
    guard scalar.value >= 0x80 else { return nil }
    if let range = Self.large.first(where: { $0.contains(scalar.value) }) {
      learn(range)
    } else {
      let start = scalar.value / Self.blockSize * Self.blockSize
      learn(start...start + Self.blockSize - 1)
    }
    return members[scalar]
  }

  private func learn(_ range: ClosedRange<UInt32>) {
    guard known.insert(range.lowerBound).inserted else { return }
    var classes: [Key: [Unicode.Scalar]] = [:]
    for value in range {
      guard let scalar = Unicode.Scalar(value), let category = Self.category(of: scalar) else {
        continue
      }
      let text = String(scalar)
      let forms = [
        text.lowercased(), text.uppercased(),
        FoldedText.fold(text, ignoringCase: false, ignoringMarks: true),
        FoldedText.fold(text, ignoringCase: true, ignoringMarks: true),
      ]
      let key = Key(category: category, sizes: forms.flatMap { [$0.utf8.count, $0.utf16.count] })
      classes[key, default: []].append(scalar)
    }
    for characters in classes.values {
      for (place, scalar) in characters.enumerated() {
        members[scalar] = Member(characters: characters, place: place)
      }
    }
  }

  /// A number of the general category; `nil` for what stays.
  private static func category(of scalar: Unicode.Scalar) -> UInt8? {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter: 0
    case .lowercaseLetter: 1
    case .titlecaseLetter: 2
    case .modifierLetter: 3
    case .otherLetter: 4
    case .decimalNumber: 5
    case .letterNumber: 6
    case .otherNumber: 7
    case .mathSymbol: 8
    case .currencySymbol: 9
    case .modifierSymbol: 10
    case .otherSymbol: 11
    case .privateUse: 12
    case .unassigned where scalar.value & 0xFFFE != 0xFFFE: 13
    default: nil
    }
  }
}
