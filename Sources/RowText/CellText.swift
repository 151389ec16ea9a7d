import ManagedModel
import ManagedStore

/// A value as one line of text.
package enum CellText {
  /// For a table: what bytes are is told, too.
  package static func table(_ value: PropertyValue) -> String {
    switch value {
    case .value(.null): "∅"
    case .toOne(let id): id.map { "→ \($0)" } ?? "∅"
    case .toMany(let many): "(\(many.count))"
    case .data(let data) where !data.isMissing:
      kind(data).map { "\($0), " + csv(value) } ?? csv(value)
    default: csv(value)
    }
  }

  /// Text that is no UTF-8, with U+FFFD for what is broken; `nil` for anything else.
  package static func broken(_ value: PropertyValue, in column: RowColumn) -> String? {
    guard case .data(let data) = value, column.kind == .attribute(.string) else { return nil }
    return "! not UTF-8: " + String(decoding: data.bytes, as: UTF8.self)
  }

  /// `JPEG`, `keyed archive`; `nil` where bytes are only bytes.
  private static func kind(_ data: DataValue) -> String? {
    switch DataKind(data.bytes, isWhole: data.bytes.count == data.count) {
    case .empty, .bytes: nil
    case let kind: kind.description
    }
  }

  /// For CSV: without what a table adds.
  package static func csv(_ value: PropertyValue) -> String {
    switch value {
    case .value(let plain): text(plain)
    case .data(let data):
      switch data.location {
      case .row: "\(data.count) bytes"
      case .file: "\(data.count) bytes ext"
      case .missing: "! file missing"
      }
    case .toOne(let id): id?.description ?? ""
    case .toMany(let many): String(many.count)
    }
  }

  /// A plain value.
  package static func text(_ value: AttributeValue) -> String {
    switch value {
    case .null: ""
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .double(let number): number.description
    case .decimal(let digits): digits
    case .string(let text), .uri(let text): text
    case .date(let seconds): CoreDataDate.text(seconds)
    case .bytes(let bytes): "\(bytes.count) bytes"
    case .uuid(let bytes): UUIDText.text(bytes)
    }
  }
}
