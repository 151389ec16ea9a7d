/// Text as predicates with `[c]` and `[d]` compare it.
package enum FoldedText {
  /// Without regard to case: Unicode's lower case, so that “É” is “é” and “ẞ” is “ß”. Without
  /// regard to diacritics: precomposed letters become their base letters, and nonspacing marks go.
  package static func fold(_ text: String, ignoringCase: Bool, ignoringMarks: Bool) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return ignoringCase ? text.lowercased() : text }
    var result = text
    if ignoringMarks {
      var scalars = String.UnicodeScalarView()
      for scalar in text.unicodeScalars {
        if scalar.value < 0xC0 {
          scalars.append(scalar)
        } else if let base = DiacriticTable.bases[scalar] {
          scalars.append(base)
        } else if scalar.properties.generalCategory != .nonspacingMark {
          scalars.append(scalar)
        }
      }
      result = String(scalars)
    }
    return ignoringCase ? result.lowercased() : result
  }
}
