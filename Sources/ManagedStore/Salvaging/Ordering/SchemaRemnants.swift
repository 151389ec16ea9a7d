import Salvage

/// Texts of CREATE TABLE that are still in a file, wherever they stand: in pages that are free, behind the
/// cells of others, in older frames of a log.
///
/// Each is of a time: a table may have been rebuilt since.
struct SchemaRemnants {
  /// The columns of each text, by table.
  private var columns: [String: [[String]]] = [:]

  private static let mark = Array("CREATE TABLE ".utf8)
  /// Longer than any that Core Data writes in a page.
  private static let longest = 32_768
  /// More texts of a table than that are no history of it.
  private static let most = 64

  /// None.
  init() {}

  /// Looks for texts of tables.
  init(_ image: DatabaseImage, of tables: Set<String>) throws {
    guard !tables.isEmpty else { return }
    for number in 1...max(1, image.pageCount) {
      guard let page = try image.page(number) else { continue }
      take(page.bytes, tables)
      if case .frame = page.origin { take(try image.mainPage(number), tables) }
    }
  }

  /// Takes the texts in a page.
  mutating func take(_ bytes: [UInt8], _ tables: Set<String>) {
    var place = 0
    let first = Self.mark[0]
    while let next = bytes[place...].firstIndex(of: first) {
      place = next + 1
      guard bytes.count - next > Self.mark.count, bytes[next...].starts(with: Self.mark) else {
        continue
      }
      let text = bytes[(next + Self.mark.count)...].prefix(Self.longest)
        .prefix { $0 >= 0x20 && $0 < 0x7F }
      guard let (name, columns) = Self.read(String(decoding: text, as: UTF8.self)),
        tables.contains(name), self.columns[name]?.contains(columns) != true,
        self.columns[name]?.count ?? 0 < Self.most
      else { continue }
      self.columns[name, default: []].append(columns)
    }
  }

  /// The name and the columns behind Z_OPT of `ZNAME ( Z_PK INTEGER PRIMARY KEY, … )`, with what ALTER
  /// TABLE put there; `nil` where the text ends before its last parenthesis, or is of no entity.
  static func read(_ text: String) -> (name: String, columns: [String])? {
    guard let open = text.firstIndex(of: "("), let close = text.firstIndex(of: ")"), open < close
    else { return nil }
    func plain(_ word: Substring) -> String { String(word.filter { $0 != "\"" && $0 != " " }) }
    let columns = text[text.index(after: open)..<close].split(separator: ",").map { column in
      plain(column.drop { $0 == " " }.prefix { $0 != " " })
    }
    guard columns.count > 2, columns[0] == "Z_PK", columns[1] == "Z_ENT", columns[2] == "Z_OPT"
    else { return nil }
    return (plain(text[..<open]), Array(columns.dropFirst(3)))
  }

  /// The orders of a table's columns in the texts that name all of them and no other.
  func orders(of table: StoreSchema.Table) -> [[Int]] {
    let places = Dictionary(table.columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    return (columns[table.name] ?? []).compactMap { names in
      let order = names.compactMap { places[$0] }
      return order.count == names.count && Set(order).count == table.columns.count
        && order.count == table.columns.count ? order : nil
    }
  }
}
