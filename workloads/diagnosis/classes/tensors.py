"""Failures of tensors: their devices, types, shapes and numbers, and of the backward pass."""

from workloads.diagnosis.base import FailureClass, Fault

CLASSES = (
    FailureClass(
        "device-mismatch",
        "Tensors on different devices",
        Fault.PROGRAM,
        "An operation got tensors of different devices.",
        "Move the model and every batch to the same device with .to(device), and make new "
        "tensors there.",
        line_patterns=(
            r"[Ee]xpected all tensors to be on the same device|at least two devices",
            r"is not on the expected device|Expected a '\w+' device type for",
            r"should be an? .*\bCPU\b.* tensor, but got .*cuda|only dense CPU tensors",
            r"No backend type associated with device type"
            r"|Implicit conversion to a NumPy array is not allowed",
            r"Input type \(torch\.cuda\.\w+\) and (?:weight|bias) type \(torch\.(?!cuda)\w+\)",
            r"Input type \(torch\.(?!cuda)\w+\) and (?:weight|bias) type \(torch\.cuda\.\w+\)",
            r"Expected (?:object of )?(?:device type|tensor .* to be on).* (?:cuda|cpu)"
            r"|must be on the same device",
            r"Incompatible devices for jitted computation|cannot be accessed from Triton",
            r"can't convert (?:cuda|mps)\S* device type tensor to numpy",
        ),
        error_line_patterns=(r"(?:\bnot|should be\b.*) (?:at|on) the same device\b",),
    ),
    FailureClass(
        "dtype-mismatch",
        "Types do not match",
        Fault.PROGRAM,
        "An operation got tensors of a type it does not accept.",
        "Convert inputs to the type of the weights (for example .float(), .long() for labels), "
        "or use autocast.",
        line_patterns=(
            r"must have the same dtype|expected (?:m1 and m2|mat1 and mat2) to have the same dtype",
            r"expected (?:scalar type|target dtype|dtype|input dtype) .*(?:but|got)",
            r"[Ee]xpected .*(?:scalar types?|type Long|dtypes?).* (?:but )?(?:got|found)",
            r"not implemented for '(?:\w+)'|result type \w+ can't be cast"
            r"|can't convert np\.ndarray of type",
            r"cannot compute \w+ as input #\d+.*was expected to be a \w+ tensor but is a",
            r"requires (?:arguments|operands) to have (?:compatible|the same) (?:types|dtypes)",
            r"Input type \(.+\) and (?:weight|bias) type \(.+\) should be the same",
            r"requires? .*\bdtypes? (?:to )?(?:match|be the same|agree)\b",
            r"tensor data ?type is not supported|Attempting to unscale FP16 gradients",
            r"with (?:a|two) bool tensors? is not supported|could not infer output dtype",
            r"Cannot cast (?:ufunc|array data|scalar)|Found dtype \w+ but expected|UFuncTypeError",
        ),
    ),
    FailureClass(
        "shape-mismatch",
        "Shapes do not match",
        Fault.PROGRAM,
        "An operation got tensors whose shapes do not fit together.",
        "Print the shapes before the line that the traceback names; look at the size of the "
        "input, the last incomplete batch (drop_last) and layers after a reshape.",
        line_patterns=(
            r"shapes cannot be multiplied|size mismatch, (?:m1|got)|must match the size of tensor",
            r"expected input.{0,40} to have \d+ channels"
            r"|shape '\[.*\]' is invalid for input of size",
            r"mismatch in its core dimension|could not be broadcast|shapes? .* not aligned",
            r"[Ii]ncompatible shapes|is incompatible with the layer|[Ss]hapes? .* (?:is"
            r"|are) (?:incompatible|not compatible)",
            r"stack expects each tensor to be equal size|Sizes of tensors must match",
            r"[Ee]xpected input batch_size \(\d+\) to match target|Dimensions? (?:must be equal"
            r"|size must match)",
            r"dot_general requires|must have (?:compatible|equal|the same) (?:shapes?"
            r"|number of dimensions)",
            r"Expected \d+D .*(?:but )?got|expected \d+-dimensional|Dimension out of range",
            r"setting an array element with a sequence|inhomogeneous shape",
            r"Target size .* must be the same as input size|inconsistent numbers of samples",
            r"(?:does not|doesn't|cannot|can't|not) (?:be )?broadcast"
            r"|should contain \d+ elements not",
            r"must match (?:exactly|the existing size|except)|Given normalized_shape=",
            r"\(-1\) must be equal to input_size|cannot reshape (?:array|a tensor)",
            r"num_feature .*num_col|[Nn]umber of (?:columns|features) does not match",
            r"[Ss]hape of the mask .* does not match|Kernel size can't be greater than actual",
            r"[Ss]hape mismatch|[Bb]oolean index did not match|Matrix size-incompatible",
            r"should be of (?:size|shape) .*but (?:is|got)|Expected target size .* got"
            r"|[Ss]hape of the .*attn_mask is .* but should be|to sum exactly to \d+"
            r"|Split sizes do(?:es)?n't match|tensor size must be equal to"
            r"|to be divisible by \d+ but got .*shape"
            r"|features and .* tokens do not match",
            r"is expecting \d+ features as input|must be of the same length"
            r"|Length of \w+ .*(?:differs|does not match|doesn't match)",
        ),
    ),
    FailureClass(
        "index-out-of-range",
        "Index out of range",
        Fault.PROGRAM,
        "A token, a label or an index is larger than the table that it points into.",
        "Compare the largest label with the number of classes, and the size of the tokenizer's "
        "vocabulary with that of the embedding.",
        line_patterns=(
            r"index out of range in self|Target -?\d+ is out of bounds",
            r"index -?\d+ is out of bounds|indices\[.*\] = -?\d+ is not in",
            r"[Ii]ndex.* out of bounds with size|Token indices .* out of range",
            r"must be (?:smaller|less) than num_classes|label .*out of range",
        ),
    ),
    FailureClass(
        "nan-values",
        "Loss is NaN",
        Fault.PROGRAM,
        "The loss or a gradient became NaN or infinite, and the program gave up.",
        "Lower the learning rate, clip gradients, warm up, use bfloat16 instead of float16, and "
        "look for empty or broken batches just before.",
        line_patterns=(
            r"(?i:(?:loss|gradient|grad|norm|output)s?\b.{0,40}\b(?:is|are|became|was|to be)"
            r"\s*:?\s*(?:nan|inf|infinite|non-?finite)\b(?!ic|-))",
            r"(?i:(?<![\w.])(?!best|max|min|prev)\w*(?:(?:loss|gradient|grad|output)s?\s*=\s*"
            r"(?:nan|inf)|norm\s*=\s*nan)\b)",
            r"(?i:(?<![\w-])(?<!no )(?:nan|non-?finite|inf(?:inite)?)\b(?!-| to )[^,=:|]{0,30}"
            r"\b(?:loss|gradient|grad|norm|values? detected))",
            r"returned nan values in its",
            r"(?i:(?<!\b0 )\binvalid (?:loss|gradients?)(?: values?)?"
            r"(?:[,;]| (?:detected|encountered)\b(?!:? 0\b)))",
            r"(?:[Ll]oss|[Gg]rad\w*|[Oo]utputs?|[Ll]ogits?|[Tt]ensor|Input data|Label)\b.{0,20} "
            r"contains? (?:either )?`?(?:NaN|nan|infinity|inf)\b",
            r"Input (?:\w{1,2} |\w+_\w+ )?contains (?:NaN|infinity)",
            r"[Ll]oss scaler? (?:reached (?:its )?|already at )minimum"
            r"|[Mm]inimum loss scale reached",
            r"Unexpected result (?:nan|inf)\b|found (?:NaN|Inf) in local",
            r"invalid value \(nan\)|encountered in tensor.*NaN|Inf and NaN detected",
            r"to satisfy the constraint .* found invalid values|[Tt]ensor had (?:NaN|Inf)",
        ),
    ),
    FailureClass(
        "autograd",
        "Backward pass failed",
        Fault.PROGRAM,
        "The gradient could not be computed.",
        "Call backward once for each forward pass, do not change tensors in place that the graph "
        "needs, and keep what is trained attached to the graph.",
        line_patterns=(
            r"backward through the graph a second time|modified by an inplace operation",
            r"does not require grad and does not have a grad_fn|grad can be implicitly created",
            r"leaf Variable that requires grad|No gradients provided for any variable",
            r"numpy\(\) on Tensor that requires grad"
            r"|RNN backward can only be called in training mode",
        ),
    ),
)
