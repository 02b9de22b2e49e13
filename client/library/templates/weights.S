/* The weights of @name@, as bytes of the program. Made by slipway @version@; do not edit. */
    .section .rodata.@name@_weights, "a", %progbits
    .hidden @name@_weights
    .global @name@_weights
    .balign @alignment@
@name@_weights:
    .incbin "@name@_weights.bin"
    .section .note.GNU-stack, "", %progbits
