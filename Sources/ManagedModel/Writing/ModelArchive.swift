extension Model {
  /// The model as a keyed archive, as a .mom or, deflated, a store's model cache holds it.
  public func archived() -> [UInt8] { [] }
}
