import JSON

/// A look for each role that a cell can have.
///
/// Roles other than `text` leave open what they do not name: the background of the row they lie
/// on, the colour of the text around them. Start a frame with `Grid(size, base: theme[.text])`.
package struct Theme: Sendable, Equatable {
  /// What it is chosen by.
  package var name: String
  /// Whether it has a light background.
  package var isLight: Bool
  private var styles: [Role: Style]

  /// A theme of these looks.
  package init(name: String, isLight: Bool = false, styles: [Role: Style]) {
    self.name = name
    self.isLight = isLight
    self.styles = styles
  }

  /// The roles that the theme names.
  package var roles: Set<Role> { Set(styles.keys) }

  /// The style of a role; plain text when the theme does not name it.
  package subscript(role: Role) -> Style { styles[role] ?? .plain }

  /// What a piece of the screen is, as themes name it.
  package enum Role: String, Sendable, CaseIterable {
    /// Text without a role of its own; its background is the screen's.
    case text
    /// What matters less: units, paths, what comes after the name.
    case dim
    case title
    case border
    /// The border of the pane that has the keys.
    case borderFocused
    /// The selected row of the pane that has the keys, and of one that has not.
    case selection, selectionUnfocused
    /// What a search has found.
    case match
    case header, headerActive
    case columnTitle
    case footerKey, footerText, footerDisabled
    case popup
    case prompt
    case added, removed, changed
    case success, warning, error
    case gauge, gaugeRest
    // The values of attributes and relationships.
    case string, number, boolean, date, data, identifier, transformable, relationship, null
    case entity, attribute
    case code
  }
}

extension Theme {
  /// The look without colours: bold, underline and reverse video only.
  package static let mono = Theme(
    name: "mono",
    styles: [
      .title: Style(.default, on: .default, .bold),
      .borderFocused: Style(.default, on: .default, .bold),
      .selection: Style(.default, on: .default, .reverse),
      .selectionUnfocused: Style(.default, on: .default, .underline),
      .match: Style(.default, on: .default, [.bold, .underline]),
      .header: Style(.default, on: .default, .reverse),
      .headerActive: Style(.default, on: .default, [.bold, .underline]),
      .columnTitle: Style(.default, on: .default, [.bold, .underline]),
      .footerKey: Style(.default, on: .default, .bold),
      .added: Style(.default, on: .default, .bold),
      .removed: Style(.default, on: .default, .bold),
      .changed: Style(.default, on: .default, .bold),
      .warning: Style(.default, on: .default, .bold),
      .error: Style(.default, on: .default, [.bold, .reverse]),
      .entity: Style(.default, on: .default, .bold),
      .relationship: Style(.default, on: .default, .underline),
    ])
}

extension Theme {
  /// Reads a theme file: JSON in which comments and trailing commas are allowed.
  ///
  /// - Throws: `ThemeError`, saying which role or colour is wrong and what could stand there.
  package init(json: some Sequence<UInt8>) throws(ThemeError) {
    let bytes = Array(json)
    do {
      self = try JSONDecoding.value(ThemeDocument.self, from: bytes).theme()
    } catch let error as JSON5Mistake {
      throw ThemeError("the theme is not JSON: \(error.message)")
    } catch let error as ThemeError {
      throw error.placed(in: String(decoding: bytes, as: UTF8.self))
    } catch let error as DecodingError {
      throw ThemeDocument.explain(error).placed(in: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ThemeError("the theme cannot be read: \(error)")
    }
  }
}

private struct ThemeDocument: Decodable {
  var name: String
  var light: Bool?
  var palette: [String: ColorName]?
  var roles: [String: StyleNames]

  /// A colour in words, or a number of the 256 colour palette.
  enum ColorName: Decodable {
    case word(String)
    case number(Int)

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if let number = try? value.decode(Int.self) {
        self = .number(number)
      } else {
        self = .word(try value.decode(String.self))
      }
    }
  }

  /// A colour alone, or an object of colours and attributes.
  struct StyleNames: Decodable {
    var fg: ColorName?
    var bg: ColorName?
    var attributes: Style.Attributes = []

    private static let flags: [(name: String, attribute: Style.Attributes)] = [
      ("bold", .bold), ("dim", .dim), ("underline", .underline), ("reverse", .reverse),
    ]

    init(from decoder: any Decoder) throws {
      guard let object = try? decoder.container(keyedBy: AnyKey.self) else {
        fg = try ColorName(from: decoder)
        return
      }
      for key in object.allKeys {
        switch key.stringValue {
        case "fg": fg = try object.decode(ColorName.self, forKey: key)
        case "bg": bg = try object.decode(ColorName.self, forKey: key)
        default:
          guard let flag = Self.flags.first(where: { $0.name == key.stringValue }) else {
            let role = decoder.codingPath.last?.stringValue ?? ""
            throw ThemeError(
              "role “\(role)” has no “\(key.stringValue)”: "
                + "fg, bg, bold, dim, underline and reverse are known",
              at: ["roles", role, key.stringValue])
          }
          if try object.decode(Bool.self, forKey: key) { attributes.insert(flag.attribute) }
        }
      }
    }
  }

  struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
      self.stringValue = stringValue
    }

    init?(intValue: Int) {
      nil
    }
  }

  func theme() throws(ThemeError) -> Theme {
    var styles: [Theme.Role: Style] = [:]
    for (name, names) in roles.sorted(by: { $0.key < $1.key }) {
      guard let role = Theme.Role(rawValue: name) else {
        let known = Theme.Role.allCases.map(\.rawValue).joined(separator: ", ")
        throw ThemeError(
          "there is no role “\(name)”; there are \(known)", at: ["roles", name])
      }
      styles[role] = Style(
        try color(names.fg, of: name), on: try color(names.bg, of: name), names.attributes)
    }
    return Theme(name: name, isLight: light ?? false, styles: styles)
  }

  private func color(_ name: ColorName?, of role: String) throws(ThemeError) -> Color {
    switch name {
    case nil: return .default
    case .number(let number):
      guard let index = UInt8(exactly: number) else {
        throw ThemeError(
          "colour \(number) of role “\(role)” is not within 0 to 255", at: ["roles", role])
      }
      return index < 16 ? .ansi(index) : .indexed(index)
    case .word(let word):
      // The palette first: a theme may have a blue of its own.
      switch palette?[word] {
      case .number(let number)?: return try color(.number(number), of: role)
      case .word(let meaning)?:
        if let color = Color(name: meaning) { return color }
        throw ThemeError(
          "“\(meaning)” in the palette is not a colour; " + Color.examples,
          at: ["palette", word])
      case nil:
        if let color = Color(name: word) { return color }
        throw ThemeError(
          "“\(word)” of role “\(role)” is not a colour; " + Color.examples,
          at: ["roles", role])
      }
    }
  }

  static func explain(_ error: DecodingError) -> ThemeError {
    func names(_ path: [any CodingKey]) -> [String] { path.map(\.stringValue) }
    func place(_ path: [any CodingKey]) -> String {
      path.isEmpty ? "the theme" : "“" + names(path).joined(separator: ".") + "”"
    }
    switch error {
    case .keyNotFound(let key, let context):
      return ThemeError(
        "\(place(context.codingPath)) has no “\(key.stringValue)”", at: names(context.codingPath))
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      return ThemeError(
        "\(place(context.codingPath)) should be a \(word(for: type))",
        at: names(context.codingPath))
    case .dataCorrupted(let context):
      return ThemeError("the theme cannot be read: \(context.debugDescription)")
    @unknown default:
      return ThemeError("the theme cannot be read: \(error)")
    }
  }

  private static func word(for type: Any.Type) -> String {
    switch type {
    case is String.Type: return "text"
    case is Bool.Type: return "true or false"
    default: return "an object"
    }
  }
}

extension Color {
  static let examples =
    "write “#rrggbb”, “blue”, “bright-blue”, 0 to 255, “default” or a name of the palette"

  private static let names = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
  ]

  /// A colour from `#rrggbb`, `blue`, `bright-blue`, `208` or `default`.
  package init?(name text: String) {
    let word = text.lowercased()
    let plain = word.hasPrefix("bright-") ? String(word.dropFirst(7)) : word
    if word == "default" {
      self = .default
    } else if let index = Self.names.firstIndex(of: plain) {
      self = .ansi(UInt8(index + (plain == word ? 0 : 8)))
    } else if word == "grey" || word == "gray" {
      self = .ansi(8)
    } else if let number = UInt8(word) {
      self = number < 16 ? .ansi(number) : .indexed(number)
    } else if word.hasPrefix("#"), word.utf8.count == 7,
      word.dropFirst().allSatisfy(\.isHexDigit), let value = UInt32(word.dropFirst(), radix: 16)
    {
      self = .rgb(UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255))
    } else {
      return nil
    }
  }
}

/// What is wrong with a theme file, and in which line.
package struct ThemeError: Error, Equatable, CustomStringConvertible {
  /// What is wrong with the file, as a clause.
  package let description: String
  /// From 1 on; `nil` where it is about the whole file.
  package private(set) var line: Int?
  /// The keys that lead to the mistake.
  private var path: [String]

  init(_ description: String, at path: [String] = []) {
    self.description = description
    self.path = path
  }

  /// The same with the line in which the last of the keys stands.
  ///
  /// The decoder forgets where it read a key, so they are looked for one after the other, in comments
  /// too: no more than a hint to a person.
  func placed(in text: String) -> ThemeError {
    guard line == nil, !path.isEmpty else { return self }
    var error = self
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var number = 0
    for key in path {
      guard let found = lines.indices.first(where: { $0 >= number && Self.has(key, lines[$0]) })
      else { return self }
      number = found
    }
    error.line = number + 1
    return error
  }

  /// Whether a key stands in a line: quoted or bare, before a colon, and not behind `//`.
  private static func has(_ key: String, _ line: Substring) -> Bool {
    var rest = line
    while let first = rest.first {
      if rest.hasPrefix("//") { return false }
      for form in ["\"\(key)\"", "'\(key)'", key] where !key.isEmpty && rest.hasPrefix(form) {
        if rest.dropFirst(form.count).drop(while: \.isWhitespace).first == ":" { return true }
      }
      // A bare key begins where a word does.
      rest =
        first.isLetter || first == "_"
        ? rest.drop { $0.isLetter || $0.isNumber || $0 == "_" } : rest.dropFirst()
    }
    return false
  }
}
