#!/usr/bin/env python3
"""pipelines.py MARQ [NAME-PART]: what skl2onnx writes of scikit-learn's estimators,
fitted here, run by ONNX Runtime and by `marq run -t host`."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
from authored import put_back
from onnx import numpy_helper
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn import (calibration, cluster, decomposition, discriminant_analysis, ensemble, gaussian_process, impute,
                     linear_model, mixture, multiclass, naive_bayes, neighbors, neural_network, preprocessing, svm, tree)
from sklearn.pipeline import make_pipeline

warnings.filterwarnings("ignore")
marq, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
np.random.seed(3)  # of what fits at random
rng = np.random.default_rng(3)
X = rng.standard_normal((90, 4)).astype(np.float32) * 2 + 3
three = (X[:, 0] + X[:, 1] > 5).astype(int) + (X[:, 2] > 4)
two, target = (three > 0).astype(int), X @ np.array([1, -2, .5, 3]) + X[:, 0] ** 2
pair = [("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=3))]

CLASSIFIERS = {
    "forest": ensemble.RandomForestClassifier(3, random_state=0), "boosting": ensemble.GradientBoostingClassifier(n_estimators=3),
    "ada": ensemble.AdaBoostClassifier(n_estimators=3), "bagging": ensemble.BaggingClassifier(n_estimators=2),
    "vote": ensemble.VotingClassifier(pair, voting="soft", flatten_transform=False), "stack": ensemble.StackingClassifier(pair, cv=2),
    "svc": svm.SVC(), "svc_poly": svm.SVC(kernel="poly"), "linear_svc": svm.LinearSVC(),
    "logistic": linear_model.LogisticRegression(), "sgd": linear_model.SGDClassifier(), "ridge": linear_model.RidgeClassifier(),
    "neighbours": neighbors.KNeighborsClassifier(weights="distance"), "bayes": naive_bayes.GaussianNB(),
    "network": neural_network.MLPClassifier((5,), max_iter=20), "lda": discriminant_analysis.LinearDiscriminantAnalysis(),
    "calibrated": calibration.CalibratedClassifierCV(tree.DecisionTreeClassifier(max_depth=3), method="isotonic", cv=2),
    "one_to_one": multiclass.OneVsOneClassifier(linear_model.LogisticRegression()),
    "power": make_pipeline(preprocessing.PowerTransformer(), linear_model.LogisticRegression()),
    "bins": make_pipeline(preprocessing.KBinsDiscretizer(3), linear_model.LogisticRegression()),
}
REGRESSORS = {
    "forest": ensemble.RandomForestRegressor(3), "histogram": ensemble.HistGradientBoostingRegressor(max_iter=3),
    "svr": svm.SVR(), "neighbours": neighbors.KNeighborsRegressor(), "network": neural_network.MLPRegressor(hidden_layer_sizes=(5,), max_iter=20),
    "process": gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.RBF()), "ridge": linear_model.Ridge(),
    "poisson": make_pipeline(preprocessing.MinMaxScaler(), linear_model.LinearRegression()),
}
OTHERS = {
    "isolation": ensemble.IsolationForest(n_estimators=3), "one_class": svm.OneClassSVM(), "outliers": neighbors.LocalOutlierFactor(novelty=True),
    "means": cluster.KMeans(3, n_init=1), "mixture": mixture.GaussianMixture(2), "pca": decomposition.PCA(2),
    "polynomial": preprocessing.PolynomialFeatures(2), "imputer": impute.SimpleImputer(), "nearest": impute.KNNImputer(),
}
WORDS = np.array([["a", "x"], ["b", "y"], ["c", "x"], ["a", "z"]] * 3, object)
CODES = (np.arange(24).reshape(12, 2) % 3).astype(np.int64)


def fitted():
    for name, m in CLASSIFIERS.items():
        for kind, y in ("3", three), ("2", two), ("2s", np.array(["no", "yes"])[two]):
            yield f"class_{name}_{kind}", m, X, y
    for name, m in REGRESSORS.items():
        yield f"number_{name}", m, X, target
    for name, m in OTHERS.items():
        yield f"other_{name}", m, X, None
    for name, values in ("words", WORDS), ("codes", CODES):
        yield f"one_hot_{name}", preprocessing.OneHotEncoder(handle_unknown="ignore"), values, None
        yield f"ordinal_{name}", preprocessing.OrdinalEncoder(), values, None
    yield "labels", preprocessing.LabelEncoder(), WORDS[:, 0], None


def write(folder, name, model, x, y):
    """The model and what ONNX Runtime makes of some rows."""
    model.fit(x) if y is None else model.fit(x, y)
    kind = StringTensorType if x.dtype == object else Int64TensorType if x.dtype == np.int64 else FloatTensorType
    options = {id(model): {"zipmap": False}} if name.startswith("class_") and "linear_svc" not in name else None
    made = convert_sklearn(model, initial_types=[("x", kind([None, *x.shape[1:]]))], options=options, target_opset={"": 21, "ai.onnx.ml": 3})
    onnx.save(made, f"{folder}/model.onnx")
    rows = x[:7].copy()
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    want = onnxruntime.InferenceSession(made.SerializeToString(), quiet).run(None, {"x": rows})
    for at, v in ("input_0", rows), *((f"output_{i}", np.asarray(v)) for i, v in enumerate(want)):
        open(f"{folder}/{at}.pb", "wb").write(numpy_helper.from_array(v).SerializeToString())


def differs(folder):
    done = subprocess.run([marq, "run", f"{folder}/model.onnx", "-t", "host", "--data", folder, "--no-measure", "--db",
                           "none", "--runs", "1", "--format", "json"], capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        return f"status {done.returncode}: " + (done.stderr.strip().splitlines()[-1:] or [""])[0][-200:]
    return ", ".join(f"{c['output']} differs by {c['max_error']} of {c['range']}"
                     for c in json.loads(done.stdout)["checks"] if not c["matches"])


def tried(folder, *made):
    """Was it written, and what differs?"""
    try:
        write(folder, *made)
    except Exception as e:  # noqa: BLE001: whatever it says
        print(f"not written: {made[0]}: {str(e).splitlines()[0][:150]}", flush=True)
        return "skipped"
    said = differs(folder)
    if said:
        print(f"FAILED {made[0]}: {said}", flush=True)
    return "failed" if said else "passed"


count = dict(passed=0, failed=0, skipped=0)
with tempfile.TemporaryDirectory() as root:
    for made in fitted():
        if part in made[0]:
            os.mkdir(f"{root}/{made[0]}")
            count[tried(f"{root}/{made[0]}", *made)] += 1
    for line in put_back(root):
        count["failed"] += 1
        print(line)
print(f"{count['skipped']} not written by skl2onnx or not run by ONNX Runtime")
print(f"{count['passed']} passed, {count['failed']} failed")
sys.exit(count["failed"] > 0 or count["passed"] == 0)
