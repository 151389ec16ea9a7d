import JSON

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
