/// What a member of an object may be.
package protocol JSONField {
  /// Writes it as a value.
  func write(to json: inout JSONWriter)
}

/// Members of an object, in the order in which they are written; one without a value is null.
package typealias JSONMembers = KeyValuePairs<String, (any JSONField)?>

extension String: JSONField {
  /// A text, as ``JSONText`` writes it.
  package func write(to json: inout JSONWriter) { json.string(self) }
}

extension Int: JSONField {
  /// A whole number.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Int64: JSONField {
  /// A whole number.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Double: JSONField {
  /// A number; infinities and NaN are text.
  package func write(to json: inout JSONWriter) { json.number(self) }
}

extension Bool: JSONField {
  /// true or false.
  package func write(to json: inout JSONWriter) { json.bool(self) }
}

extension Array: JSONField where Element: JSONField {
  /// An array of values.
  package func write(to json: inout JSONWriter) {
    json.array { json in for element in self { element.write(to: &json) } }
  }
}
