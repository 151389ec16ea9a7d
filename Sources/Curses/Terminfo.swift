import CNcurses

/// What the terminfo entry that is set up says.
enum Terminfo {
  /// A string capability without its padding, `nil` when the terminal has none.
  static func string(_ name: String) -> String? {
    // tigetstr answers with -1 for a name that is no string capability.
    guard let value = strata_tigetstr(name), Int(bitPattern: value) != -1 else { return nil }
    var text = String(cString: value)
    while let start = text.range(of: "$<"), let end = text[start...].firstIndex(of: ">") {
      text.removeSubrange(start...end)
    }
    return text
  }

  static func flag(_ name: String) -> Bool { strata_tigetflag(name) > 0 }
}

extension String {
  /// The index of the first occurrence of an ASCII text; the standard library alone has no search.
  fileprivate func range(of text: String) -> Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}
