import ManagedModel
import ManagedStore

/// Values as short text for lists of samples.
enum SampleText {
  static func text(of value: PropertyValue) -> String {
    switch value {
    case .value(.null), .toOne(nil): "NULL"
    case .value(.string(let text)) where text.count > 60: text.prefix(60) + "…"
    case .value(let plain): plain.line
    case .data(let data): data.location.problem ?? "\(data.count) bytes"
    case .toOne(let id?): id.description
    case .toMany(let many): "\(many.count) objects"
    }
  }
}
