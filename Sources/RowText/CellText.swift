import ManagedModel
import ManagedStore

/// A value as one line of text.
package enum CellText {
  /// For a table: what bytes are is reported, too.
  package static func table(_ value: PropertyValue) -> String {
    switch value {
    case .value(.null): "∅"
    case .toOne(let id): id.map { "→ \($0)" } ?? "∅"
    case .toMany(let many): "(\(many.count))"
    case .data(let data) where data.isReadable:
      kind(data).map { "\($0), " + line(value) } ?? line(value)
    default: line(value)
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

  /// In a line, for people as for CSV: without what a table adds.
  package static func line(_ value: PropertyValue) -> String {
    switch value {
    case .value(let plain): plain.line
    case .data(let data):
      switch data.location {
      case .row: "\(data.count) bytes"
      case .file: "\(data.count) bytes ext"
      case .missing: "! file missing"
      case .unreadable: "! file unreadable"
      }
    case .toOne(let id): id?.description ?? ""
    case .toMany(let many): String(many.count)
    }
  }
}
