/// How a model is written, and how two of them differ.
@_exported import ManagedModel
